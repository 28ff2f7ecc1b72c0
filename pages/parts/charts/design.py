"""A designed encoding before training: the values it adds or the angles it rotates by, and the similarity of positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from engine.encodings import ENCODINGS
from pages.parts.charts.base import axis, figure
from pages.parts.charts.colors import MUTED, diverging, shade
from pages.parts.charts.heat import heat, heat_figure

COLOR = ENCODINGS["designed"].color
DASHED: dict[str, Any] = {"type": "line", "line": {"color": MUTED["light"], "width": 1.2, "dash": "dash"}}
TABLE = {"embedding": ("dimension", "added value"), "rotation": ("pair of dimensions", "angle (rad)")}


def table_picture(matrix: np.ndarray, trained: int, place: str) -> go.Figure:
    """The encoding's table, [position, dimension] or [position, pair]."""
    column, unit = TABLE[place]
    most = _largest(matrix)
    trace = heat(matrix, unit, scale=diverging(), low=-most, high=most, x=column, y="position")
    return heat_figure(trace, x=column, y="position", shapes=_ends(trained, *matrix.shape, across=False))


def offsets_figure(bias: np.ndarray, trained: int) -> go.Figure:
    """A bias [head, query, key] as one line for each head over the offset key - query."""
    heads, length, _ = bias.shape
    offsets = list(range(1 - length, length))
    lines = []
    for head in range(heads):
        color = shade(COLOR, 0.7 * head / max(1, heads - 1))
        values = [float(np.diagonal(bias[head], offset).mean()) for offset in offsets]
        line = go.Scatter(
            x=offsets, y=values, name=f"head {head + 1}", mode="lines", line={"color": color["light"], "width": 2},
            meta={"color": color}, hovertemplate=f"head {head + 1}, offset %{{x}}: %{{y:.3g}}<extra></extra>",
        )  # fmt: skip
        lines.append(line)
    shapes = [_line(place) for place in (-trained + 0.5, trained - 0.5) if length > trained]
    return figure(lines, xaxis=axis("offset (key − query)"), yaxis=axis("added to the score"), shapes=shapes)


def similarity_picture(similarity: np.ndarray, trained: int, unit: str) -> go.Figure:
    """The similarity of two positions, [position, position]."""
    most = 1.0 if unit == "similarity" else _largest(similarity)
    trace = heat(similarity, unit, scale=diverging(), low=-most, high=most, x="other position", y="position")
    shapes = _ends(trained, *similarity.shape, across=True)
    return heat_figure(trace, x="position", y="position", square=True, shapes=shapes)


def distance_figure(distance: np.ndarray, trained: int, unit: str) -> go.Figure:
    """The mean similarity by offset, [offset]."""
    color = shade(COLOR)
    line = go.Scatter(
        x=list(range(len(distance))), y=[float(f"{value:.5g}") for value in distance], mode="lines+markers",
        line={"color": color["light"], "width": 2}, marker={"color": color["light"], "size": 4}, showlegend=False,
        meta={"color": color}, hovertemplate="distance %{x}: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    shapes = [_line(trained - 0.5)] if len(distance) > trained else []
    return figure([line], xaxis=axis("distance (positions)"), yaxis=axis(unit), shapes=shapes)


def _largest(array: np.ndarray) -> float:
    return float(np.abs(array).max()) or 1.0


def _ends(trained: int, length: int, columns: int, *, across: bool) -> list[dict[str, Any]]:
    """Lines at the end of the trained length, on the rows and, if the columns are positions too, on the columns."""
    if length <= trained:
        return []
    rows = {"x0": -0.5, "x1": columns - 0.5, "y0": trained - 0.5, "y1": trained - 0.5}
    down = {"x0": trained - 0.5, "x1": trained - 0.5, "y0": -0.5, "y1": length - 0.5}
    return [DASHED | rows, *([DASHED | down] if across else [])]


def _line(at: float) -> dict[str, Any]:
    """A vertical line over the whole height."""
    return DASHED | {"x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1}
