"""A snapshot's pictures: its arrays as grids, and the figures that show them."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from engine.config import RunConfig
from engine.encodings import ENCODINGS, encoding_of
from engine.events import Snapshot
from pages.parts.board.grids import CELLS, Grid, coarsen, grid
from pages.parts.figures.attention import mosaic_figure, pattern_figure
from pages.parts.figures.encoding import matrix_figure, similarity_figure


def color_of(config: RunConfig) -> str:
    """The one colour of a run's encoding."""
    return ENCODINGS[config.pos_encoding].color


def grids_of(snapshot: Snapshot) -> dict[str, dict[str, Grid]]:
    """``patterns`` [layer, head, query, key] by kind, ``encoding`` by name; weights and cosines on fixed scales."""
    bounds = {"similarity": (-1.0, 1.0)}
    return {
        "patterns": {which: grid(pattern, 0.0, 1.0) for which, pattern in snapshot.patterns.items()},
        "encoding": {name: grid(array, *bounds.get(name, (None, None))) for name, array in snapshot.encoding.items()},
    }


def look_figures(config: RunConfig, snapshot: Snapshot) -> dict[str, go.Figure]:
    """The figures for every later snapshot of the run, made from the first: the probe stays the same."""
    figures: dict[str, go.Figure] = {}
    color = color_of(config)
    for which, pattern in snapshot.patterns.items():
        coarse, block = coarsen(pattern, CELLS)
        layers, heads, queries, keys = coarse.shape
        query_tokens, key_tokens = tokens_of(snapshot, which, pattern.shape[-2:])
        figures[f"mosaic.{which}"] = mosaic_figure(layers, heads, queries, keys, color, which)
        figures[f"pattern.{which}"] = pattern_figure(query_tokens, key_tokens, block, color, which)
    acts_on = encoding_of(config).acts_on
    for name, array in snapshot.encoding.items():
        coarse, block = coarsen(array, CELLS)
        figures[name] = matrix_figure(acts_on, coarse.shape, block) if name == "matrix" else similarity_figure(block)
    return figures


def tokens_of(snapshot: Snapshot, which: str, sizes: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """The probe's tokens on the query and the key axis; positions where the probe names none."""
    sample: Any = snapshot.samples[0] if snapshot.samples else None
    read = {"self": ("tokens", "tokens"), "encoder": ("source", "source"), "cross": ("tokens", "source")}[which]
    named = [list(getattr(sample, side)) if sample else [] for side in read]
    queries, keys = (
        (tokens + [str(place) for place in range(len(tokens), size)])[:size]
        for tokens, size in zip(named, sizes, strict=True)
    )
    return queries, keys
