"""A designed encoding before training: what it adds or turns, and how alike it makes positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from engine.encodings import ENCODINGS
from pages.parts.colors import MUTED, diverging, shade
from pages.parts.figures.base import axis, figure
from pages.parts.figures.heat import heat, heat_figure

COLOR = ENCODINGS["designed"].color
TABLE = {"embedding": ("dimension", "added value"), "rotation": ("pair of dimensions", "angle (rad)")}


def table_picture(matrix: np.ndarray, trained: int, place: str) -> go.Figure:
    """[position, dimension] or [position, pair]."""
    column, unit = TABLE[place]
    most = _largest(matrix)
    trace = heat(matrix, unit, scale=diverging(), low=-most, high=most, x=column, y="position")
    return heat_figure(trace, x=column, y="position", shapes=_ends(trained, matrix.shape[0], across=False))


def offsets_figure(bias: np.ndarray, trained: int) -> go.Figure:
    """[head, query, key] as a line a head over the offset key - query."""
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
    shapes = [_line("x", place) for place in (-trained + 0.5, trained - 0.5) if length > trained]
    return figure(lines, xaxis=axis("offset (key − query)"), yaxis=axis("added to the score"), shapes=shapes)


def similarity_picture(similarity: np.ndarray, trained: int, unit: str) -> go.Figure:
    """[position, position]"""
    most = 1.0 if unit == "similarity" else _largest(similarity)
    trace = heat(similarity, unit, scale=diverging(), low=-most, high=most, x="position", y="position")
    shapes = _ends(trained, similarity.shape[0], across=True)
    return heat_figure(trace, x="position", y="position", square=True, shapes=shapes)


def distance_figure(distance: np.ndarray, trained: int, unit: str) -> go.Figure:
    """[offset]"""
    color = shade(COLOR)
    line = go.Scatter(
        x=list(range(len(distance))), y=[float(f"{value:.5g}") for value in distance], mode="lines+markers",
        line={"color": color["light"], "width": 2}, marker={"color": color["light"], "size": 4}, showlegend=False,
        meta={"color": color}, hovertemplate="distance %{x}: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    shapes = [_line("x", trained - 0.5)] if len(distance) > trained else []
    return figure([line], xaxis=axis("distance (positions)"), yaxis=axis(unit), shapes=shapes)


def _largest(array: np.ndarray) -> float:
    return float(np.abs(array).max()) or 1.0


def _ends(trained: int, length: int, *, across: bool) -> list[dict[str, Any]]:
    """Where training ends, on the rows and, if the columns are positions too, across."""
    if length <= trained:
        return []
    return [_line("y", trained - 0.5), *([_line("x", trained - 0.5)] if across else [])]


def _line(along: str, at: float) -> dict[str, Any]:
    other = "y" if along == "x" else "x"
    return {
        "type": "line", f"{along}ref": along, f"{along}0": at, f"{along}1": at, f"{other}ref": "paper", f"{other}0": 0,
        f"{other}1": 1, "line": {"color": MUTED["light"], "width": 1.2, "dash": "dash"},
    }  # fmt: skip
