"""Figures of an encoding's portrait (:mod:`engine.analysis.encodings.portraits`): its matrix, similarity, profile, spectra, components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts.charts.attention import gap
from pages.parts.charts.base import FONT, Axis, Trace, axis, figure
from pages.parts.charts.colors import MUTED, diverging, mix, sequential, shade
from pages.parts.charts.heat import Places, heat, heat_figure, largest

WHAT = {
    "table": ("dimension", "position", "added value"),
    "angles": ("pair of dimensions", "position", "angle (rad)"),
    "vectors": ("dimension", "offset or count", "vector entry"),
    "bias": ("key position, by head", "query position", "added to the score"),
}
"""The names of the matrix's columns, rows and entries by kind."""
LIKENESS = {"table": "cosine", "angles": "mean cosine of the angles", "vectors": "cosine", "bias": "mean bias"}
MOST_HEADS = 8
"""The most lines of a profile."""

Portrait = Mapping[str, Any]


def matrix_figure(portrait: Portrait, shown: int) -> go.Figure:
    """The encoding over ``shown`` positions; empty where it has no rows."""
    columns, rows, unit = WHAT[portrait["kind"]]
    matrix, at = portrait["matrix"], portrait["matrix_at"]
    if portrait["kind"] == "bias":
        return _tiles(portrait)
    most = largest(matrix)
    # Angles start at zero and only grow.
    scale, low = (sequential("#5A6578"), 0.0) if portrait["kind"] == "angles" else (diverging(), -most)
    trace = heat(matrix, unit, scale=scale, low=low, high=most, x=columns, y={rows: at})
    if portrait["kind"] == "vectors":
        return heat_figure(trace, x=columns, y=rows)
    return heat_figure(trace, x=columns, y=rows, down=_down_to(shown), shapes=end_marks(portrait, shown, "y"))


def _tiles(portrait: Portrait) -> go.Figure:
    """One tile [query, key] for each head, side by side."""
    matrix, at = portrait["matrix"], portrait["matrix_at"]
    heads, side = matrix.shape[0], matrix.shape[-1]
    between = gap(side)
    wide = side + between
    tiles = np.full((heads, side, wide), np.nan, dtype=np.float32)  # [head, query, key and the gap after them]
    tiles[..., :side] = _seen(portrait, matrix)
    mosaic = np.moveaxis(tiles, 0, 1).reshape(side, heads * wide)[:, :-between]
    columns, rows, unit = WHAT["bias"]
    scale, low, high = _signed(matrix)
    places: Places = {
        "head": np.repeat(np.arange(1, heads + 1), wide)[:-between],
        "key position": ([*at.tolist(), *[None] * between] * heads)[:-between],
    }
    trace = heat(mosaic, unit, scale=scale, low=low, high=high, x=places, y={rows: at})
    ticks = {
        "tickvals": [h * wide + (side - 1) / 2 for h in range(heads)],
        "ticktext": [f"H{h + 1}" for h in range(heads)],
    }
    return heat_figure(trace, x=columns, y=rows, across=ticks)


def similarity_figure(portrait: Portrait, likeness: str, shown: int) -> go.Figure:
    """The similarity of two positions, [position, position], from -1 to 1 for a cosine, else on a scale of its own."""
    dotted = likeness == "dot" and portrait["dot"] is not None
    matrix, at = portrait["dot"] if dotted else portrait["similarity"], portrait["similarity_at"]
    bounded = not dotted and portrait["kind"] != "bias"
    scale, low, high = (diverging(), -1.0, 1.0) if bounded else _signed(matrix)
    unit = "dot product" if dotted else LIKENESS[portrait["kind"]]
    matrix = _seen(portrait, matrix)
    trace = heat(matrix, unit, scale=scale, low=low, high=high, x={"other position": at}, y={"position": at})
    shapes = end_marks(portrait, shown, "x", "y")
    across = {"range": [-0.5, shown - 0.5]}
    return heat_figure(
        trace, x="position", y="position", square=True, across=across, down=_down_to(shown), shapes=shapes
    )


def profile_figure(portrait: Portrait, color: str) -> go.Figure:
    """Mean similarity, or bias of each head, at each offset; a band where positions with the same offset differ."""
    offsets, lines = portrait["offsets"], portrait["profile"]
    traces: list[Any] = []
    several = len(lines) > 1
    shown = np.unique(np.linspace(0, len(lines) - 1, min(len(lines), MOST_HEADS)).round().astype(int))
    for place, line in enumerate(shown.tolist()):
        tone = 0.75 * place / max(1, len(shown) - 1)
        spread = portrait["high"][line] - portrait["low"][line]
        if not several and float(spread.max()) > 1e-6:
            traces += _band(offsets, portrait["low"][line], portrait["high"][line], color)
        traces.append(
            plain_scatter(
                x=offsets.tolist(), y=five_digits(lines[line]), name=f"H{line + 1}" if several else "mean", mode="lines",
                line={"color": shade(color, tone)["light"], "width": 2}, meta={"color": shade(color, tone)},
                hovertemplate="offset %{x}: %{y:.4g}", showlegend=several,
            )
        )  # fmt: skip
    trained = portrait["trained"] - 1
    ends = [end for end in (-trained, trained) if offsets.min() < end < offsets.max()]
    return figure(
        traces,
        xaxis=axis("offset: key − query (positions)"),
        yaxis=axis("bias (score)" if portrait["kind"] == "bias" else LIKENESS[portrait["kind"]]),
        shapes=[across_line("x", end, "longest trained") for end in ends],
        margin={"l": 52, "r": 12, "t": 32 if several else 12, "b": 40},
    )


def plain_scatter(**trace: Any) -> Trace:
    return {"type": "scatter", **trace}


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, color: str) -> list[Trace]:
    """A band from the smallest to the largest value, behind the mean."""
    plain: dict[str, Any] = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    faint = f"rgba({','.join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))},.18)"
    return [
        plain_scatter(x=x.tolist(), y=five_digits(low), **plain),
        plain_scatter(x=x.tolist(), y=five_digits(high), fill="tonexty", fillcolor=faint, **plain),
    ]


def end_marks(portrait: Portrait, shown: int, *along: str) -> list[dict[str, Any]]:
    """Lines at the end of the trained length on these axes, where more is shown."""
    if portrait["trained"] >= shown:
        return []
    return [across_line(axis_, portrait["trained"] - 0.5, "trained to here" if axis_ == "x" else "") for axis_ in along]


def _down_to(shown: int) -> Axis:
    """An axis with position 0 on top and room for every shown position, also for those without a row."""
    return {"range": [shown - 0.5, -0.5], "autorange": False}


def across_line(along: str, at: float, text: str) -> dict[str, Any]:
    other = "y" if along == "x" else "x"
    return {
        "type": "line", f"{along}ref": along, f"{along}0": at, f"{along}1": at,
        f"{other}ref": f"{other} domain", f"{other}0": 0, f"{other}1": 1,
        "line": {"color": MUTED["light"], "width": 1.2, "dash": "dash"},
        "label": {
            "text": text, "textposition": "end", "textangle": 0, "yanchor": "top", "xanchor": "left", "padding": 3,
            "font": {"size": FONT, "color": MUTED["light"]},
        },
    }  # fmt: skip


def _seen(portrait: Portrait, matrix: np.ndarray) -> np.ndarray:
    """The matrix [..., query, key] with NaN at the keys that no query sees."""
    return np.where(np.tri(matrix.shape[-1], dtype=bool), matrix, np.nan) if portrait["only_before"] else matrix


def _signed(matrix: np.ndarray) -> tuple[Any, float, float]:
    """A scale around zero where there are negative values, else from zero."""
    most = largest(matrix)
    return (
        (diverging(), -most, most)
        if float(matrix.min()) < 0
        else (sequential(mix(MUTED["light"], "#2A5BD7", 0.5)), 0.0, most)
    )


def five_digits(values: np.ndarray) -> list[float | None]:
    """Values with five digits: enough for a line, and half the bytes."""
    return [float(f"{v:.5g}") if np.isfinite(v) else None for v in np.asarray(values, dtype=float).tolist()]
