"""Attention patterns: every layer and head in one heatmap, and one of them enlarged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from pages.parts.charts.base import axis, color_bar, figure
from pages.parts.charts.colors import sequential
from pages.parts.charts.heat import labels

MOST_TOKENS = 12
"""The most tokens written along an axis of a panel of the lab, which is small."""


def gap(side: int) -> int:
    """The number of empty cells between tiles of that side."""
    return max(1, round(side * 0.12))


def mosaic_figure(layers: int, heads: int, queries: int, keys: int, color: str, which: str = "self") -> go.Figure:
    """Tiles in rows of layers and columns of heads; a tile is one pattern [query, key], weights from 0 to 1."""
    high, wide = queries + gap(queries), keys + gap(keys)
    return figure(
        [_heatmap(color, {"grid": "mosaic", "which": which, "tile": [high, wide], "cells": [queries, keys]})],
        xaxis=axis(
            "head",
            tickvals=[h * wide + (keys - 1) / 2 for h in range(heads)],
            ticktext=[f"H{h + 1}" for h in range(heads)],
            range=[-0.5, heads * wide - gap(keys) - 0.5], showgrid=False, side="top", ticks="", constrain="domain",
        ),
        yaxis=axis(
            "layer",
            tickvals=[n * high + (queries - 1) / 2 for n in range(layers)],
            ticktext=[f"L{n + 1}" for n in range(layers)],
            range=[layers * high - gap(queries) - 0.5, -0.5], showgrid=False, ticks="", scaleanchor="x", constrain="domain",
        ),
        margin={"l": 40, "r": 8, "t": 40, "b": 8},
        dragmode="zoom",
    )  # fmt: skip


def pattern_figure(
    query_tokens: Sequence[str], key_tokens: Sequence[str], block: tuple[int, int], color: str, which: str = "self"
) -> go.Figure:
    """One head: a row for each query, a column for each key, the probe's tokens on the axes."""
    queries, keys = in_blocks(query_tokens, block[0]), in_blocks(key_tokens, block[1])
    return figure(
        [_heatmap(color, {"grid": "pattern", "which": which, "queries": queries, "keys": keys})],
        xaxis=axis(
            "key (read from)", showgrid=False, side="top", ticks="", constrain="domain", **labels(keys, MOST_TOKENS) | upright(keys)
        ),
        yaxis=axis(
            "query (reading)", showgrid=False, autorange="reversed", ticks="", scaleanchor="x", constrain="domain",
            **labels(queries, MOST_TOKENS),
        ),
        margin={"l": 44, "r": 8, "t": 44, "b": 8},
    )  # fmt: skip


def upright(names: Sequence[str]) -> dict[str, Any]:
    """Axis settings that turn words on a horizontal axis upright, so that they do not overlap."""
    return {"tickangle": -90} if max(map(len, names), default=0) > 3 else {}


def in_blocks(tokens: Sequence[str], block: int) -> list[str]:
    """The label of each cell: its token, or the first and last token of its block."""
    if block == 1:
        return list(tokens)
    parts = [tokens[start : start + block] for start in range(0, len(tokens), block)]
    return [part[0] if len(part) == 1 else f"{part[0]}…{part[-1]}" for part in parts]


def _heatmap(color: str, meta: dict[str, object]) -> go.Heatmap:
    scale = sequential(color)
    return go.Heatmap(
        zmin=0, zmax=1, colorscale=scale["light"], hoverinfo="none",
        colorbar=color_bar("weight", tickvals=[0, 0.5, 1]),
        meta={**meta, "scale": scale},
    )  # fmt: skip
