"""The key figure of an issue: a row for each condition, a dot for each seed, a bar with its number at the mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Literal

import plotly.graph_objects as go

from engine.experiments.key_figure import number
from pages.parts.charts.arms import wrapped
from pages.parts.charts.base import axis, figure
from pages.parts.charts.strip import AIR, Ended, mean_bar, points, upright

TICKS = 15
"""The size of the letters in pixels: to be read from the back of a room."""
NAME = 22
"""The letters in a line of a row's name: more where the name would otherwise take a third line and meet its neighbour."""
SHARE_RANGE = (-0.03, 1.1)
"""The axis of a share, with room for the number at a mean of 1."""


def key_figure(
    rows: Sequence[Ended],
    scale: Literal["linear", "log"],
    *,
    share: bool,
    written: Callable[[float], str] = number,
    chance: float | None = None,
    guess: float | None = None,
) -> go.Figure:
    """``share``: whether the numbers lie between 0 and 1. ``written``: a mean in words. ``guess``: where the reader's mark stands in
    the second row. The title stands on the panel.

    The rows are there before any seed has ended; a row whose seeds ended without a number says so with a red cross.
    """
    known = [value for row in rows for value in row.known]
    traces = [trace for place, row in enumerate(rows) for trace in (points(place, row), mean_bar(place, row))]
    levels = [] if chance is None else [upright(chance, f"chance {number(chance)}", anchor="left", size=TICKS - 2)]
    marks = [] if guess is None else [_guess_mark(guess)]
    return figure(
        [*traces, _means(rows, written), *_crosses(rows)],
        xaxis=_values_axis(known, scale, share),
        yaxis=axis(
            "", range=[len(rows) - 0.5, -0.5], tickvals=list(range(len(rows))),
            ticktext=[wrapped(row.name, max(NAME, len(row.name) // 2 + 4)) for row in rows], showgrid=False, fixedrange=True,
            tickfont={"size": TICKS},
        ),
        font={"size": TICKS},
        showlegend=False,
        margin={"l": 8, "r": 26, "t": 24 if levels else 8, "b": 28},
        hovermode="closest",
        shapes=[*levels, *marks],
    )  # fmt: skip


def _values_axis(known: Sequence[float], scale: str, share: bool) -> dict[str, object]:
    fonts = {"tickfont": {"size": TICKS}}
    if share:
        return axis("", range=list(SHARE_RANGE), tickvals=[0, 0.25, 0.5, 0.75, 1], **fonts)
    if not known:
        return axis("", range=[0, 1], showticklabels=False, **fonts)  # no number before there is one
    if scale == "log":
        far = max(known) / min(known) > 1000
        ticks = {"dtick": 1, "exponentformat": "power"} if far else {"dtick": "D2", "tickformat": "~s"}
        return axis(
            "", type="log", range=[math.log10(min(known)) - 0.1, math.log10(max(known)) + 0.3], **ticks, **fonts
        )
    low, high = min(0.0, *known), max(0.0, *known)
    air = AIR * (high - low or 1.0)
    return axis("", range=[low - air, high + 3 * air], **fonts)


def _means(rows: Sequence[Ended], written: Callable[[float], str]) -> go.Scatter:
    """The number of each mean, right of the row's dots."""
    there = [(place, row.known) for place, row in enumerate(rows) if row.known]
    return go.Scatter(
        x=[max(known) for _, known in there], y=[place for place, _ in there],
        text=[f"\u2002{written(fmean(known))}" for _, known in there], mode="text", textposition="middle right",
        textfont={"size": TICKS}, hoverinfo="skip", cliponaxis=False, uid="means",
    )  # fmt: skip


def _crosses(rows: Sequence[Ended]) -> list[go.Scatter]:
    """A cross at the left end of each row whose seeds all ended without a number."""
    places = [place for place, row in enumerate(rows) if row.without and not row.known]
    if not places:
        return []
    return [
        go.Scatter(
            x=[0.02] * len(places), y=places, xaxis="x", mode="markers+text", text=["  no number: the run ended early"] * len(places),
            textposition="middle right", marker={"symbol": "x", "size": 14, "color": "#C6313B"}, hoverinfo="skip", uid="crosses",
        )
    ]  # fmt: skip


def _guess_mark(guess: float) -> dict[str, object]:
    """A mark that can be dragged along its row."""
    return {
        "type": "circle", "xref": "x", "yref": "y", "xsizemode": "pixel", "ysizemode": "pixel", "xanchor": guess, "yanchor": 1,
        "x0": -10, "x1": 10, "y0": -10, "y1": 10, "line": {"width": 3}, "name": "accent", "layer": "above",
        "label": {"text": "your guess", "textposition": "bottom center", "yanchor": "top", "font": {"size": TICKS - 2}},
    }  # fmt: skip
