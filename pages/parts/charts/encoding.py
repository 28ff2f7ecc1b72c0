"""An encoding (table, bias or angles) and the similarity of two positions under it."""

from __future__ import annotations

import plotly.graph_objects as go

from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from pages.parts.charts.attention import gap
from pages.parts.charts.base import axis, color_bar, figure
from pages.parts.charts.colors import diverging

WHAT = {
    "embedding": ("dimension", "position", "added value"),
    "scores": ("key position, by head", "query position", "added to the score"),
    "rotation": ("pair of dimensions", "position", "angle (rad)"),
    "vectors": ("dimension", "vector", "value"),
    "nowhere": ("dimension", "position", "value"),
}
"""The names of the matrix's columns, rows and entries by the part that the encoding acts on; ``vectors`` where a score adds
the product of the query with learned vectors."""


def color_of(config: RunConfig) -> str:
    """The colour of a run's encoding."""
    return ENCODINGS[config.pos_encoding].color


def matrix_figure(acts_on: str, shape: tuple[int, ...], block: tuple[int, int] = (1, 1)) -> go.Figure:
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


def similarity_figure(block: tuple[int, int] = (1, 1)) -> go.Figure:
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
