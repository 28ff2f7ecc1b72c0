"""A claim's effect: a dot and its whiskers on an axis with zero and the smallest effect worth naming."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.parts.charts.arms import wrapped
from pages.parts.charts.base import axis, figure
from pages.parts.charts.colors import muted, shade
from pages.parts.charts.strip import upright

COLOR = "#2A5BD7"
CLOSE = 0.07
"""The share of the axis below which there is room for only one of the labels of zero and the smallest effect."""
HEIGHT, LINE, WIDTH = 128, 18, 44
"""Pixels of a figure whose unit takes one line; pixels of each further line; letters in a line on a phone."""


def effect_figure(
    effects: Sequence[float | None],
    mean: float | None,
    interval: tuple[float, float] | None,
    smallest: float,
    direction: str,
    unit: str,
) -> go.Figure:
    """A claim's effect. ``effects`` by seed are small dots above the mean; the shaded side is the claimed one."""
    title = _in_lines(unit)
    color, named = shade(COLOR), smallest if direction == "more" else -smallest
    known = [value for value in effects if value is not None]
    low, high = _range([0.0, named, *known, *(interval or ())])
    dot = [] if mean is None else [mean]
    return figure(
        [
            go.Scatter(
                x=known, y=[0.62] * len(known), name="seeds", uid="seeds", mode="markers", opacity=0.5, cliponaxis=False,
                marker={"color": muted()["light"], "size": 7, "symbol": "line-ns", "line": {"width": 1.6}},
                hovertemplate="one seed: %{x:.3g}<extra></extra>", meta={"color": muted(), "label": "effect of each seed"},
            ),
            go.Scatter(
                x=list(interval or ()), y=[0.25] * len(interval or ()), name="95 % interval", uid="interval", mode="lines+markers",
                line={"color": color["light"], "width": 3},
                marker={"color": color["light"], "size": 12, "symbol": "line-ns", "line": {"width": 3}},
                hovertemplate="95 % interval: %{x:.3g}<extra></extra>", meta={"color": color, "label": "95 % interval"},
            ),
            go.Scatter(
                x=dot, y=[0.25] * len(dot), name="effect", uid="effect", mode="markers",
                marker={"color": color["light"], "size": 12},
                hovertemplate="mean effect: %{x:.3g}<extra></extra>", meta={"color": color, "label": "mean effect"},
            ),
        ],
        xaxis=axis(title, range=[low, high], nticks=6),
        yaxis={"visible": False, "range": [0, 0.85], "fixedrange": True},
        showlegend=False,
        margin={"l": 12, "r": 12, "t": 24, "b": 44 + effect_height(unit) - HEIGHT},
        hovermode="closest",
        shapes=[
            upright(0.0, "0" if abs(named) > CLOSE * (high - low) else "", dash="solid"),
            upright(named, f"{named:+.3g}".replace("-", "−")),
            {
                "type": "rect", "xref": "x", "x0": named, "x1": high if named > 0 else low, "yref": "paper", "y0": 0, "y1": 1,
                "layer": "below", "line": {"width": 0}, "name": "claimed",
            },
        ],
    )  # fmt: skip


def effect_height(unit: str) -> int:
    """The height of the figure in pixels."""
    return HEIGHT + LINE * _in_lines(unit).count("<br>")


def _in_lines(unit: str) -> str:
    """The text on one line, or on two of nearly equal length."""
    return wrapped(unit, WIDTH if len(unit) <= WIDTH else len(unit) // 2 + 6)


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = 0.1 * (high - low)
    return low - margin, high + margin
