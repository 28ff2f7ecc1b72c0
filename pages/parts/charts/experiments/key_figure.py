"""The key figure of an issue, with a row for each condition, and its thumbnail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from engine.experiments.key_figure import number
from pages.parts.charts.base import across_line, axis, figure
from pages.parts.charts.colors import INK, RED
from pages.parts.charts.experiments.arms import wrapped
from pages.parts.charts.experiments.strip import AIR, EndNumbers, row_traces, rows_axis

TICKS = 15  # pixels of the letters, which the back of a room can read
NAME = 22  # letters in a line of a row's name, at least: a third line would touch the next row
SHARE_RANGE = (-0.03, 1.1)  # with room for the number at a mean of 1
SHIFT, HALF = 0.22, 0.55  # in rows: the shift of stored seeds up and of others down, and the height of both
LETTER_ON_AXIS = 0.025  # width of a letter of a number, as a share of the axis where letters are large


def key_figure(
    rows: Sequence[EndNumbers], *, share: bool, format_value: Callable[[float], str] = number, chance: float | None = None,
    guess: float | None = None, moved: bool = True, stored: Sequence[EndNumbers] = (),
) -> go.Figure:  # fmt: skip
    """The rows, also before any seed has ended. A row whose seeds ended without a number has a red cross.

    ``share``: the numbers are from 0 to 1. ``format_value``: writes a mean. ``guess``: the x of the reader's mark in the
    second row; ``moved``: the reader has put it there. ``stored``: rows of stored seeds, in grey above the others,
    with their seeds in the axis title.
    """
    known = [value for row in (*stored, *rows) for value in row.known]
    levels = (
        []
        if chance is None
        else [across_line("x", chance, f"chance {chance:.3g}", xanchor="left", font={"size": TICKS - 2})]
    )
    marks = [] if guess is None else [_guess_mark(guess, moved)]
    values = _values_axis(known, share)
    if stored:
        values["title"]["text"] = f"grey: stored seeds {stored[0].seeds[0]} to {stored[0].seeds[-1]}"
    shift, high = (SHIFT, HALF) if stored else (0.0, 1.0)
    above = _traces_of(stored, -shift, high, format_value, values) if stored else []
    return figure(
        [*(trace.update(uid=f"stored-{trace.uid}") for trace in above), *_traces_of(rows, shift, high, format_value, values)],
        xaxis=values,
        yaxis=rows_axis([wrapped(row.name, max(NAME, len(row.name) // 2 + 4)) for row in rows], tickfont={"size": TICKS}),
        font={"color": INK["light"], "size": TICKS},
        showlegend=False,
        margin={"l": 8, "r": 26, "t": 24 if levels else 8, "b": 28},
        shapes=[*levels, *marks],
    )  # fmt: skip


def lengths(means: Sequence[float]) -> list[float]:
    longest = max(means, default=0.0)
    return [max(0.0, mean / longest) if longest > 0 else 0.0 for mean in means]


def thumbnail(rows: Sequence[EndNumbers], *, share: bool, words: str) -> str:
    """The rows of seeds and means in HTML, without letters. ``words``: the text for screen readers; if empty, the
    seeds are veiled."""
    values = _values_axis([value for row in rows for value in row.known], share)
    low, high = map(float, values["range"])

    def at(value: float) -> int:
        return round(100 * (value - low) / (high - low))

    def marks(row: EndNumbers) -> str:
        dots = "".join(f'<i style="left: {index}%"></i>' for index in sorted({at(value) for value in row.known}))
        return dots + ("" if row.mean is None else f'<b style="left: {at(row.mean)}%"></b>')

    lines = "".join(
        f'<div style="color: light-dark({row.color["light"]}, {row.color["dark"]})">{marks(row) if words else ""}</div>'
        for row in rows
    )
    if not words:
        return f'<div class="thumbnail">{lines}<span>Guess first</span></div>'
    return f'<div class="thumbnail" role="img" aria-label="{escape(words)}">{lines}</div>'


def _values_axis(known: Sequence[float], share: bool) -> dict[str, Any]:
    fonts = {"tickfont": {"size": TICKS}}
    if share:
        return axis("", range=list(SHARE_RANGE), tickvals=[0, 0.25, 0.5, 0.75, 1], **fonts)
    if not known:
        return axis("", range=[0, 1], showticklabels=False, showgrid=False, **fonts)  # no ticks before the first number
    low, high = min(0.0, *known), max(0.0, *known)
    air = AIR * (high - low or 1.0)
    return axis("", range=[low - air, high + 3 * air], **fonts)


def _traces_of(
    rows: Sequence[EndNumbers], shift: float, high: float, format_value: Callable[[float], str], values: dict[str, Any]
) -> list[go.Scatter]:
    return [*row_traces(rows, shift, high), _means(rows, shift, format_value, values), *_crosses(rows, shift)]


def _means(
    rows: Sequence[EndNumbers], shift: float, format_value: Callable[[float], str], values: dict[str, Any]
) -> go.Scatter:
    there = [(index + shift, row.mean, row.known) for index, row in enumerate(rows) if row.mean is not None]
    texts = [format_value(mean) for _, mean, _ in there]
    beside = [
        _beside(mean, known, LETTER_ON_AXIS * (len(text) + 1), values)
        for (_, mean, known), text in zip(there, texts, strict=True)
    ]
    return go.Scatter(
        x=[x for x, _ in beside], y=[index for index, _, _ in there], text=[f"\u2002{text}\u2002" for text in texts],
        mode="text", textposition=[f"middle {side}" for _, side in beside],
        textfont={"size": TICKS}, hoverinfo="skip", cliponaxis=False, uid="means",
    )  # fmt: skip


def _beside(mean: float, dots: Sequence[float], wide: float, values: dict[str, Any]) -> tuple[float, str]:
    """The x and the side of a number next to a mean, such that it covers no dot. ``wide``: the number's width as a
    share of the axis."""
    low, high = values["range"]
    bar, *marks = ((value - low) / (high - low) for value in (mean, *dots))
    marks.sort()
    right = left = bar
    for index in marks:
        right = index if right <= index < right + wide else right
    for index in reversed(marks):
        left = index if left - wide < index <= left else left
    # On the left only if the right is much further from the bar.
    at, side = (left, "left") if left >= wide and bar - left + wide < right - bar else (right, "right")
    return low + at * (high - low), side


def _crosses(rows: Sequence[EndNumbers], shift: float) -> list[go.Scatter]:
    marks = [index + shift for index, row in enumerate(rows) if row.n_without and not row.known]
    crosses = go.Scatter(
        x=[0.02] * len(marks), y=marks, xaxis="x", mode="markers+text", text=["  no number: the run ended early"] * len(marks),
        textposition="middle right", marker={"symbol": "x", "size": 14, "color": RED["light"]}, hoverinfo="skip", uid="crosses",
    )  # fmt: skip
    return [crosses] if marks else []


def _guess_mark(guess: float, moved: bool) -> dict[str, object]:
    return {
        "type": "circle", "xref": "x", "yref": "y", "xsizemode": "pixel", "ysizemode": "pixel", "xanchor": guess, "yanchor": 1,
        "x0": -10, "x1": 10, "y0": -10, "y1": 10, "line": {"width": 3, "dash": "solid" if moved else "dot"},
        "name": "accent", "layer": "above",
        "label": {
            "text": "your guess" if moved else "drag me to your guess", "textposition": "bottom center", "yanchor": "top",
            "font": {"size": TICKS - 2},
        },
    }  # fmt: skip
