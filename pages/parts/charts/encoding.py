"""Figures of an encoding: its table, bias or angles, the similarity of positions, and its profile over distance. Of a
run, or of a profile (:mod:`engine.analysis.encodings`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts.charts.base import Axis, Trace, across_line, axis, band, figure, painted, rounded
from pages.parts.charts.colors import ATTENTION, MUTED, ScalePair, diverging, mix, sequential, shade
from pages.parts.charts.heat import Positions, gap, heat, heat_figure, largest, live_heat, tile_names

# The matrix's columns, rows and entries, by the kind of a profile.
AXES_OF_KIND = {
    "table": ("dimension", "position", "added value"),
    "angles": ("dimension pair", "position", "angle (rad)"),
    "vectors": ("dimension", "offset or count", "vector entry"),
    "bias": ("key position, by head", "query position", "added to the score"),
}
# The same by the part on which an encoding acts. With "vectors", a score adds the query's product with a learned
# vector.
ACTING = {
    "embedding": AXES_OF_KIND["table"],
    "rotation": AXES_OF_KIND["angles"],
    "scores": AXES_OF_KIND["bias"],
    "vectors": ("dimension", "vector", "value"),
    "nowhere": ("dimension", "position", "value"),
}
LIKENESS = {"table": "cosine", "angles": "mean cosine of the angles", "vectors": "cosine", "bias": "mean bias"}
OTHER = "other position"
# The line at the end of the trained length is above the cells, and its name is next to it.
TRAINED_END: dict[str, Any] = {"layer": "above", "yanchor": "top", "xanchor": "left", "padding": 3}
MAX_HEADS = 8  # lines of a profile

Profile = Mapping[str, Any]


# Of a run, filled by the browser


def live_matrix_figure(acts_on: str, shape: tuple[int, ...], block: tuple[int, int] = (1, 1)) -> go.Figure:
    """The encoding as [position, dimension] or [position, pair], or as a tile [query, key] for each head, side by
    side."""
    tiled = len(shape) == 3
    columns, rows, unit = ACTING["vectors" if acts_on == "scores" and not tiled else acts_on]
    wide = shape[2] + gap(shape[2]) if tiled else shape[-1]
    meta = {"tile": [shape[-2], wide], "x": "key position" if tiled else columns, "y": rows, "label": unit}
    trace = live_heat(unit, diverging(), meta, **_standing("y", block[0]) | ({} if tiled else _standing("x", block[1])))
    across = tile_names("H", shape[0], shape[-1]) if tiled else {}
    return heat_figure(trace, x=_in_blocks(columns, block[1]), y=_in_blocks(rows, block[0]), across=across)


def live_similarity_figure(block: tuple[int, int] = (1, 1)) -> go.Figure:
    """The similarity of positions, [position, position], from -1 to 1."""
    title, standing = _in_blocks("position", block[0]), _standing("y", block[0]) | _standing("x", block[1])
    meta = {"x": OTHER, "y": "position", "label": "similarity"}
    trace = live_heat("similarity", diverging(), meta, zmin=-1.0, zmax=1.0, **standing)
    return heat_figure(trace, x=title, y=title, square=True)


def _standing(along: str, block: int) -> dict[str, Any]:
    # the middle of each block of positions
    return {f"{along}0": (block + 1) / 2, f"d{along}": block}


def _in_blocks(title: str, block: int) -> str:
    return title if block == 1 else f"{title}, in blocks of {block}"


# Of a profile


def matrix_figure(profile: Profile, n_positions: int) -> go.Figure:
    columns, rows, unit = AXES_OF_KIND[profile["kind"]]
    matrix, at = profile["matrix"], profile["matrix_at"]
    if profile["kind"] == "bias":
        return _tiles(profile)
    most = largest(matrix)
    grow = profile["kind"] == "angles" and matrix.min() >= 0  # those of a design may be negative
    scale, low = (sequential(MUTED["light"]), 0.0) if grow else (diverging(), -most)
    vectors = profile["kind"] == "vectors"  # their rows are distances
    trace = heat(matrix, unit, scale=scale, low=low, high=most, x=columns, y={rows: at if vectors else at + 1})
    if vectors:
        return heat_figure(trace, x=columns, y=rows)
    shapes = end_marks(profile["trained"], n_positions, "y")
    # The scale of colours is at the end of the line, where its name would be.
    y = f"{rows} (dashed: last trained)" if shapes else rows
    return heat_figure(trace, x=columns, y=y, down=_down_to(n_positions), shapes=shapes)


def _tiles(profile: Profile) -> go.Figure:
    """One tile [query, key] for each head, side by side."""
    matrix, at = profile["matrix"], profile["matrix_at"] + 1
    heads, side = matrix.shape[0], matrix.shape[-1]
    between = gap(side)
    wide = side + between
    tiles = np.full((heads, side, wide), np.nan, dtype=np.float32)  # [head, query, key and the gap after them]
    tiles[..., :side] = _visible(profile, matrix)
    mosaic = np.moveaxis(tiles, 0, 1).reshape(side, heads * wide)[:, :-between]
    columns, rows, unit = AXES_OF_KIND["bias"]
    scale, low, high = _signed(matrix)
    positions: Positions = {
        "head": np.repeat(np.arange(1, heads + 1), wide)[:-between],
        "key position": ([*at.tolist(), *[None] * between] * heads)[:-between],
    }
    trace = heat(mosaic, unit, scale=scale, low=low, high=high, x=positions, y={rows: at})
    return heat_figure(trace, x=columns, y=rows, across=tile_names("H", heads, side))


def similarity_for(profile: Profile, similarity_kind: str) -> tuple[np.ndarray, str]:
    """The similarity of positions, [position, position], and its unit. A profile without dot products has no dot
    similarity."""
    if similarity_kind == "dot" and profile["dot"] is not None:
        return profile["dot"], "dot product"
    return profile["similarity"], LIKENESS[profile["kind"]]


def similarity_figure(profile: Profile, similarity_kind: str, n_positions: int) -> go.Figure:
    """The similarity of positions, [position, position], from -1 to 1 for a cosine, else on its own scale."""
    (matrix, unit), at = similarity_for(profile, similarity_kind), profile["similarity_at"] + 1
    scale, low, high = (diverging(), -1.0, 1.0) if "cosine" in unit else _signed(matrix)
    visible = _visible(profile, matrix)
    trace = heat(visible, unit, scale=scale, low=low, high=high, x={OTHER: at}, y={"position": at})
    across, shapes = {"range": [0.5, n_positions + 0.5]}, end_marks(profile["trained"], n_positions, "x", "y")
    return heat_figure(
        trace, x="position", y="position", square=True, across=across, down=_down_to(n_positions), shapes=shapes
    )


def end_marks(trained: int, n_positions: int, *along: str) -> list[dict[str, Any]]:
    positions = along if n_positions > trained else ()
    named = {"x": "trained to here"}
    return [across_line(axis_, trained + 0.5, named.get(axis_, ""), **TRAINED_END) for axis_ in positions]


def profile_figure(profile: Profile, color: str) -> go.Figure:
    """Mean similarity, or bias of each head, at each offset. A band shows the spread over positions."""
    offsets, lines = profile["offsets"], profile["profile"]
    traces: list[Trace] = []
    several = len(lines) > 1
    chosen = np.unique(np.linspace(0, len(lines) - 1, min(len(lines), MAX_HEADS)).round().astype(int))
    for index, line in enumerate(chosen.tolist()):
        low, high = profile["low"][line], profile["high"][line]
        if not several and float((high - low).max()) > 1e-6:
            traces += band(offsets.tolist(), low, high, color)
        named = {
            "type": "scatter",
            "name": f"H{line + 1}" if several else "mean",
            "mode": "lines",
            "showlegend": several,
        }
        numbers = {"x": offsets.tolist(), "y": rounded(lines[line]), "hovertemplate": "offset %{x}: %{y:.4g}"}
        traces.append(named | numbers | painted(shade(color, 0.75 * index / max(1, len(chosen) - 1)), width=2))
    trained = profile["trained"] - 1
    ends = [end for end in (-trained, trained) if offsets.min() < end < offsets.max()]
    return figure(
        traces,
        xaxis=axis("offset: key − query (positions)"),
        yaxis=axis("bias (score)" if profile["kind"] == "bias" else LIKENESS[profile["kind"]]),
        shapes=[across_line("x", end, "longest trained", **TRAINED_END) for end in ends],
        margin={"l": 52, "r": 12, "t": 32 if several else 12, "b": 40},
    )


def _down_to(n_positions: int) -> Axis:
    return {"range": [n_positions + 0.5, 0.5], "autorange": False}


def _visible(profile: Profile, matrix: np.ndarray) -> np.ndarray:
    """The matrix [..., query, key], with NaN at the keys that no query sees."""
    return np.where(np.tri(matrix.shape[-1], dtype=bool), matrix, np.nan) if profile["only_before"] else matrix


def _signed(matrix: np.ndarray) -> tuple[ScalePair, float, float]:
    most = largest(matrix)
    if float(matrix.min()) < 0:
        return diverging(), -most, most
    return sequential(mix(MUTED["light"], ATTENTION, 0.5)), 0.0, most
