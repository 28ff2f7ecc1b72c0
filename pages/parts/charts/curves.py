"""An arm's training curves: a thin line for each seed, a bold mean, and growing lines of running trials."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import plotly.graph_objects as go

from pages.parts.charts.arms import is_spread, round_up
from pages.parts.charts.base import axis, figure, level
from pages.parts.charts.colors import Pair

Curve = Sequence[tuple[int, float]]
"""(step, value)."""


@dataclass(frozen=True)
class Frame:
    """The value axis that all panels of an experiment share."""

    label: str
    low: float
    high: float
    log: bool = False


def frame_of(label: str, curves: Sequence[Curve], levels: Sequence[float] = ()) -> Frame:
    """The frame of all curves: from zero, or logarithmic where values lie far apart; accuracies always from 0 to 1."""
    values = [value for curve in curves for _, value in curve] + list(levels)
    if "accuracy" in label:
        return Frame(label, 0.0, 1.0)
    if is_spread(values):
        return Frame(label, 10 ** _decade(min(values), up=False), 10 ** _decade(max(values), up=True), log=True)
    low = min([0.0, *values])
    return Frame(label, -round_up(-low) if low < 0 else 0.0, round_up(max(values, default=1.0)))


def _decade(value: float, *, up: bool) -> int:

    power = math.log10(value)
    return math.ceil(power) if up else math.floor(power)


def curves_figure(
    done: Mapping[int, Curve],
    growing: Mapping[int, Curve],
    frame: Frame,
    steps: int,
    color: Pair,
    levels: Mapping[str, float] | None = None,
) -> go.Figure:
    """The curves of one arm. ``done`` and ``growing`` by seed; ``levels``: dashed lines by name, such as chance.

    The figure is small, one of many: the axis titles stand once above them all.
    """

    low, high = (math.log10(frame.low), math.log10(frame.high)) if frame.log else (frame.low, frame.high)
    margin = 0.04 * (high - low)
    width, opacity = (1.0, 0.5) if len(done) > 1 else (1.6, 1.0)  # thin and pale beside their mean alone
    return figure(
        [
            _lines("seeds", done, color, width, opacity),
            _lines("under way", growing, color, 1.6, 1.0),
            _mean(done, color),
        ],
        xaxis=axis("", range=[0, steps], tickformat=",d", nticks=5, automargin=False),
        yaxis=axis(
            "",
            range=[low - margin, high + margin],
            type="log" if frame.log else "linear",
            nticks=5,
            automargin=False,
            **({"exponentformat": "power", "dtick": max(1, round((high - low) / 4))} if frame.log else {}),
        ),
        showlegend=False,
        margin={"l": 38, "r": 12, "t": 8, "b": 22},
        hovermode="closest",
        shapes=[level(value, name, above=not name.startswith("floor")) for name, value in (levels or {}).items()],
    )


def _lines(name: str, curves: Mapping[int, Curve], color: Pair, width: float, opacity: float) -> go.Scatter:
    """All seeds as one trace with gaps between them: a browser draws one trace faster than sixteen."""
    x: list[int | None] = []
    y: list[float | None] = []
    words: list[str] = []
    for seed, curve in sorted(curves.items()):
        x += [step for step, _ in curve] + [None]
        y += [float(f"{value:.4g}") for _, value in curve] + [None]
        words += [f"seed {seed}"] * (len(curve) + 1)
    return go.Scatter(
        x=x, y=y, text=words, name=name, uid=name.replace(" ", "-"), mode="lines", opacity=opacity, connectgaps=False,
        line={"color": color["light"], "width": width}, hovertemplate="%{text}, step %{x}: %{y:.3g}<extra></extra>",
        meta={"color": color, "label": name},
    )  # fmt: skip


def _mean(curves: Mapping[int, Curve], color: Pair) -> go.Scatter:
    """The mean at each step that at least two seeds have reached."""
    by_step: dict[int, list[float]] = {}
    for curve in curves.values():
        for step, value in curve:
            by_step.setdefault(step, []).append(value)
    shown = {step: fmean(values) for step, values in sorted(by_step.items()) if len(values) > 1}
    return go.Scatter(
        x=list(shown), y=[float(f"{value:.4g}") for value in shown.values()], name="mean", uid="mean", mode="lines",
        line={"color": color["light"], "width": 2.8}, hovertemplate="mean, step %{x}: %{y:.3g}<extra></extra>",
        meta={"color": color, "label": "mean"},
    )  # fmt: skip
