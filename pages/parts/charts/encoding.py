"""An encoding (table, bias or angles) and the similarity of two positions under it: of a run, and of a design before training."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from pages.parts.charts.attention import gap
from pages.parts.charts.base import axis, color_bar, figure
from pages.parts.charts.colors import MUTED, diverging, shade
from pages.parts.charts.heat import heat, heat_figure, largest

WHAT = {
    "embedding": ("dimension", "position", "added value"),
    "scores": ("key position, by head", "query position", "added to the score"),
    "rotation": ("pair of dimensions", "position", "angle (rad)"),
    "vectors": ("dimension", "vector", "value"),
    "nowhere": ("dimension", "position", "value"),
}
"""The names of the matrix's columns, rows and entries by the part that the encoding acts on; ``vectors`` where a score adds
the product of the query with learned vectors."""
COLOR = ENCODINGS["designed"].color
DASHED: dict[str, Any] = {"type": "line", "line": {"color": MUTED["light"], "width": 1.2, "dash": "dash"}}


def color_of(config: RunConfig) -> str:
    """The colour of a run's encoding."""
    return ENCODINGS[config.pos_encoding].color


def live_matrix_figure(acts_on: str, shape: tuple[int, ...], block: tuple[int, int] = (1, 1)) -> go.Figure:
    """The encoding: [position, dimension], [position, pair], or one tile [query, key] for each head, side by side."""
    tiled = len(shape) == 3
    columns, rows, unit = WHAT["vectors" if acts_on == "scores" and not tiled else acts_on]
    heads, wide = (shape[0], shape[2] + gap(shape[2])) if tiled else (1, shape[-1])
    ticks = {
        "tickvals": [h * wide + (shape[-1] - 1) / 2 for h in range(heads)],
        "ticktext": [f"H{h + 1}" for h in range(heads)],
    }
    return figure(
        [
            _heatmap(
                unit,
                {"tile": [shape[-2], wide], "x": "key position" if tiled else columns, "y": rows, "label": unit},
                **_standing("y", block[0]),
                **({} if tiled else _standing("x", block[1])),
            )
        ],
        xaxis=axis(_in_blocks(columns, block[1]), showgrid=False, ticks="", **(ticks if tiled else {})),
        yaxis=axis(_in_blocks(rows, block[0]), showgrid=False, autorange="reversed", ticks=""),
        margin={"l": 48, "r": 8, "t": 12, "b": 40},
    )


def live_similarity_figure(block: tuple[int, int] = (1, 1)) -> go.Figure:
    """The similarity of two positions, [position, position], from -1 to 1."""
    title = _in_blocks("position", block[0])
    return figure(
        [
            _heatmap(
                "similarity",
                {"x": "other position", "y": "position", "label": "similarity"},
                zmin=-1.0,
                zmax=1.0,
                **_standing("y", block[0]),
                **_standing("x", block[1]),
            )
        ],
        xaxis=axis(title, showgrid=False, ticks="", constrain="domain"),
        yaxis=axis(title, showgrid=False, autorange="reversed", ticks="", scaleanchor="x", constrain="domain"),
        margin={"l": 48, "r": 8, "t": 12, "b": 40},
    )


def _standing(along: str, block: int) -> dict[str, float]:
    """Axis settings that put each row or column at the middle of its block of positions."""
    return {f"{along}0": (block - 1) / 2, f"d{along}": block}


def _in_blocks(title: str, block: int) -> str:
    return title if block == 1 else f"{title}, in blocks of {block}"


def _heatmap(unit: str, meta: dict[str, object], **more: float) -> go.Heatmap:
    scale = diverging()
    return go.Heatmap(
        colorscale=scale["light"], hoverinfo="none",
        colorbar=color_bar(unit),
        meta={**meta, "scale": scale}, **more,
    )  # fmt: skip


def table_picture(matrix: np.ndarray, trained: int, place: str) -> go.Figure:
    """The encoding's table, [position, dimension] or [position, pair]."""
    column, _, unit = WHAT[place]
    most = largest(matrix)
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
    most = 1.0 if unit == "similarity" else largest(similarity)
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
