"""Plain data for the board's panels; figures are made again only where they have changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go

from engine.experiments.trial import Trial
from pages.parts.charts.base import to_plain

Plain = dict[str, Any]
Remember = Callable[[str, object, Callable[[], go.Figure]], Plain]
"""``remember(panel, stamp, make)``: the figure as plain data, made again only where the stamp has changed."""


def make(_: str, __: object, figure: Callable[[], go.Figure]) -> Plain:
    """The figure as plain data, without a cache."""
    return to_plain(figure())


def remembering(figures: dict[str, tuple[object, Plain]]) -> Remember:
    """A :data:`Remember` that stores the figures in ``figures``."""

    def remember(panel: str, stamp: object, figure: Callable[[], go.Figure]) -> Plain:
        if panel not in figures or figures[panel][0] != stamp:
            figures[panel] = (stamp, to_plain(figure()))
        return figures[panel][1]

    return remember


def levels_of(trials: Sequence[Trial], curve: str) -> dict[str, float]:
    """Level lines: the chance of the curve's metric, where all these trials have the same, and the floor of a loss."""
    metric = curve.removeprefix("validation.")
    chance = {round(t.number(f"chance.{metric}"), 4) for t in trials if f"chance.{metric}" in t.numbers}
    floor = {round(t.number("floor"), 4) for t in trials if "floor" in t.numbers}
    levels = {f"chance {value:.3g}": value for value in chance} if len(chance) == 1 else {}
    if metric == "loss" and len(floor) == 1:
        levels |= {f"floor {value:.3g}": value for value in floor if value > 0}
    return levels
