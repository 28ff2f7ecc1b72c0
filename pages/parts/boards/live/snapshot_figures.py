"""The figures of a snapshot: its arrays as grids, and the axes that show them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from engine.config.run_config import RunConfig
from engine.runs.events import Snapshot, layers_kept
from pages.parts.charts.attention import mosaic_figure, pattern_figure
from pages.parts.charts.base import plain_figure
from pages.parts.charts.encoding import color_of, matrix_figure, similarity_figure
from pages.parts.charts.grids import CELLS, Grid, coarsen, grid


def grids_of(snapshot: Snapshot) -> dict[str, dict[str, Grid]]:
    """``patterns`` [layer, head, query, key] by kind, ``encoding`` by name; weights and cosines on fixed scales.

    The similarity of a bias is its mean over the heads, which may leave the range from -1 to 1 of a cosine: its scale is sent, too.
    """
    pictures = dict(snapshot.encoding.items())  # reads the file of a stored snapshot once
    room = _room(pictures)
    return {
        "patterns": {which: grid(pattern, 0.0, 1.0) for which, pattern in snapshot.patterns.items()},
        "encoding": {
            name: grid(array, *_ends(array), room) if name.startswith("similarity") else grid(array, cells=room)
            for name, array in pictures.items()
        },
    }


def _ends(similarity: np.ndarray) -> tuple[float, float]:
    finite = np.nan_to_num(similarity)
    return min(-1.0, float(finite.min())), max(1.0, float(finite.max()))


def cells_of(snapshot: Snapshot) -> int:
    """The most cells that its grids have."""
    pictures = dict(snapshot.encoding.items())
    patterns = sum(min(array.size, CELLS) for array in snapshot.patterns.values())
    return patterns + sum(min(array.size, _room(pictures)) for array in pictures.values())


def _room(names: Collection[str]) -> int:
    """The most cells of one matrix of the encoding: those of all layers together have no more than one alone would."""
    return CELLS // max(1, layers_kept(names))


def snapshot_figures(config: RunConfig, snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """The figures, as plain data, for all later snapshots of the run, made from the first: the probe stays the same."""
    figures: dict[str, dict[str, Any]] = {}
    color = color_of(config)
    for which, pattern in snapshot.patterns.items():
        coarse, block = coarsen(pattern, CELLS)
        layers, heads, queries, keys = coarse.shape
        query_tokens, key_tokens = tokens_of(snapshot, which, pattern.shape[-2:])
        figures[f"mosaic.{which}"] = plain_figure(mosaic_figure, layers, heads, queries, keys, color, which)
        figures[f"pattern.{which}"] = plain_figure(pattern_figure, query_tokens, key_tokens, block, color, which)
    pictures = dict(snapshot.encoding.items())
    coarsened = {
        name: coarsen(pictures[name], _room(pictures)) for name in ("matrix", "similarity") if name in pictures
    }
    if "matrix" in coarsened:  # the figures of further layers are the same
        coarse, block = coarsened["matrix"]
        figures["matrix"] = plain_figure(matrix_figure, config.encoding.acts_on, coarse.shape, block)
    if "similarity" in coarsened:
        figures["similarity"] = plain_figure(similarity_figure, coarsened["similarity"][1])
    return figures


def tokens_of(snapshot: Snapshot, which: str, sizes: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """The probe's tokens on the query and the key axis; positions where the probe has no tokens."""
    sample: Any = snapshot.samples[0] if snapshot.samples else None
    read = {"self": ("tokens", "tokens"), "encoder": ("source", "source"), "cross": ("tokens", "source")}[which]
    named = [list(getattr(sample, side)) if sample else [] for side in read]
    queries, keys = (
        (tokens + [str(place) for place in range(len(tokens), size)])[:size]
        for tokens, size in zip(named, sizes, strict=True)
    )
    return queries, keys
