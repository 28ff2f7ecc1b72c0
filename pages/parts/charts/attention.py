"""Figures of attention: all heads in one heatmap, one pattern, differences, one query's numbers, lines over heads."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts.charts.base import Axis, Trace, axis, figure, painted, rounded
from pages.parts.charts.colors import ATTENTION, VIOLET, diverging, muted, sequential, shade
from pages.parts.charts.heat import gap, heat, heat_figure, labels, live_heat, tile_names, upright_words

MAX_TOKEN_LABELS = 12  # along an axis of a panel of the lab, which is small
KEY, QUERY = "key (read from)", "query (reading)"
LEVEL = 70  # letters that fit beneath bars; more are turned


def mosaic_figure(layers: int, heads: int, queries: int, keys: int, which: str = "self") -> go.Figure:
    """Tiles in rows of layers and columns of heads; a tile is a pattern [query, key], with weights from 0 to 1."""
    high, wide = queries + gap(queries), keys + gap(keys)
    quiet: Axis = {"showgrid": False, "ticks": "", "constrain": "domain"}
    across = {"range": [-0.5, heads * wide - gap(keys) - 0.5], "side": "top"}
    down = {"range": [layers * high - gap(queries) - 0.5, -0.5], "scaleanchor": "x"}
    return figure(
        [_live({"grid": "mosaic", "which": which, "tile": [high, wide], "cells": [queries, keys]})],
        xaxis=axis("head", **tile_names("H", heads, keys) | quiet | across),
        yaxis=axis("layer", **tile_names("L", layers, queries) | quiet | down),
        margin={"l": 40, "r": 8, "t": 40, "b": 8},
        dragmode="zoom",
    )


def pattern_figure(
    query_tokens: Sequence[str], key_tokens: Sequence[str], block: tuple[int, int], which: str = "self"
) -> go.Figure:
    """One head: a row per query, a column per key, the probe's tokens on the axes."""
    queries, keys = in_blocks(query_tokens, block[0]), in_blocks(key_tokens, block[1])
    trace = _live({"grid": "pattern", "which": which, "queries": queries, "keys": keys}, x0=1, y0=1)
    across = {"side": "top"} | labels(keys, MAX_TOKEN_LABELS) | upright_words(keys)
    margin = {"l": 44, "r": 8, "t": 44, "b": 8}
    return heat_figure(
        trace, x=KEY, y=QUERY, square=True, across=across, down=labels(queries, MAX_TOKEN_LABELS), margin=margin
    )


def in_blocks(tokens: Sequence[str], block: int) -> list[str]:
    if block == 1:
        return list(tokens)
    parts = [tokens[start : start + block] for start in range(0, len(tokens), block)]
    # the first and the last token of each block
    return [part[0] if len(part) == 1 else f"{part[0]}…{part[-1]}" for part in parts]


def _live(meta: dict[str, object], **more: Any) -> go.Heatmap:
    return live_heat("weight", sequential(ATTENTION), meta, {"tickvals": [0, 0.5, 1]}, zmin=0, zmax=1, **more)


def pattern_picture(
    pattern: np.ndarray, queries: Sequence[str], keys: Sequence[str], *, query: int | None = None,
    bar: bool = True, bare: bool = False,
) -> go.Figure:  # fmt: skip
    """Weights [query, key] from 0 to 1; the row ``query`` has a frame. ``bare``: small, without axis titles."""
    trace = heat(pattern, "weight", scale=sequential(ATTENTION), low=0.0, high=1.0, bar=bar and not bare)
    return _square(trace, queries, keys, query, bare)


def weights_image(weights: np.ndarray) -> str:
    """Weights [query, key] as an SVG of squares, in a data address."""
    rows, columns = weights.shape
    cells = "".join(
        f'<rect x="{key}" y="{query}" width="1" height="1" fill-opacity="{weights[query, key]:.2f}"/>'
        for query in range(rows)
        for key in range(columns)
        if weights[query, key] >= 0.005
    )
    drawn = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns} {rows}" fill="{ATTENTION}">{cells}</svg>'
    return f"data:image/svg+xml;base64,{b64encode(drawn.encode()).decode()}"


def difference_picture(
    difference: np.ndarray, queries: Sequence[str], keys: Sequence[str], *, query: int | None = None
) -> go.Figure:
    """Changes of weights, [query, key]: gains above 0, losses below."""
    trace = heat(difference, "change of weight", scale=diverging(), low=-1.0, high=1.0)
    return _square(trace, queries, keys, query, False)


def _square(trace: Trace, queries: Sequence[str], keys: Sequence[str], query: int | None, bare: bool) -> go.Figure:
    words = {"x": "", "y": ""} if bare else {"x": KEY, "y": QUERY}
    more: dict[str, Any] = {"margin": {"l": 4, "r": 4, "t": 4, "b": 4}} if bare else {}
    if query is not None:
        more["shapes"] = [{
            "type": "rect", "x0": 0.5, "x1": len(keys) + 0.5, "y0": query + 0.5, "y1": query + 1.5, "name": "accent",
            "line": {"width": 1.5}, "fillcolor": "rgba(0,0,0,0)",
        }]  # fmt: skip
    across, down = (named | {"showticklabels": not bare} for named in (_across(keys), labels(queries, last=True)))
    return heat_figure(trace, **words, square=len(queries) == len(keys), across=across, down=down, **more)


def _across(names: Sequence[str]) -> Axis:
    return labels(names, last=True) | upright_words(names)


def influence_picture(moved: np.ndarray, tokens: Sequence[str], high: float) -> go.Figure:
    """The change of each output (logits) after a change of one token, [changed token, output]."""
    x, scale = "changed token", sequential(VIOLET)
    trace = heat(moved.T, "logits", scale=scale, low=0.0, high=max(high, 1e-6), x=x, y="output")
    down = labels(tokens, last=True)
    return heat_figure(trace, x=x, y="output that moves", square=True, across=_across(tokens), down=down)


def numbers_picture(
    matrix: np.ndarray, unit: str, *, x: str, y: str, columns: Sequence[str] = (), rows: Sequence[str] = ()
) -> go.Figure:
    """Signed numbers [row, column] on a scale that is symmetric around zero."""
    most = max(float(np.abs(matrix).max(initial=0.0)), 1e-6)
    trace = heat(matrix, unit, scale=diverging(), low=-most, high=most, x=x, y=y)
    return heat_figure(trace, x=x, y=y, across=_across(columns), down=labels(rows, last=True))


def strips_picture(
    strips: Sequence[tuple[str, np.ndarray]], keys: Sequence[str], blocked: np.ndarray, color: str
) -> go.Figure:
    traces, layout = [], {}
    share, space = 1 / len(strips), 0.05
    for index, (name, values) in enumerate(strips):
        number = "" if index == 0 else str(index + 1)
        top = 1 - index * share
        layout[f"yaxis{number}"] = axis(name, domain=[top - share + space, top], zeroline=True, nticks=4)
        for mask, tone, opacity in ((~blocked, shade(color), 1.0), (blocked, muted(), 0.35)):
            if mask.any():
                traces.append(go.Bar(
                    x=(np.flatnonzero(mask) + 1).tolist(), y=rounded(values[mask]), name=name, yaxis=f"y{number}", opacity=opacity,
                    marker={"color": tone["light"]}, meta={"color": tone, "label": name}, showlegend=False,
                    hovertemplate=f"{name}, key %{{x}}: %{{y:.3g}}<extra></extra>",
                ))  # fmt: skip
    below = axis(KEY, showgrid=False, range=[0.5, len(keys) + 0.5], anchor=f"y{len(strips)}", **_across(keys))
    return figure(traces, xaxis=below, bargap=0.25, barmode="overlay", hovermode="x", **layout)


def bars_picture(names: Sequence[str], values: Sequence[float], *, y: str, color: str) -> go.Figure:
    bar = go.Bar(
        x=list(range(1, len(names) + 1)), y=rounded(values), marker={"color": shade(color)["light"]},
        meta={"color": shade(color), "label": y}, customdata=list(names), hovertemplate="%{customdata}: %{y:.3g}<extra></extra>",
    )  # fmt: skip
    below = axis("head", showgrid=False, **labels(names, last=True))
    if sum(map(len, names)) > LEVEL:
        below["tickangle"] = -60
    return figure([bar], xaxis=below, yaxis=axis(y, zeroline=True), bargap=0.3)


@dataclass(frozen=True)
class Line:
    name: str
    x: Sequence[float]
    y: Sequence[float]
    strong: bool = True


def lines_picture(lines: Sequence[Line], *, x: str, y: str, color: str, **layout: Any) -> go.Figure:
    traces = []
    for line in sorted(lines, key=lambda line: line.strong):  # the strong ones last, on top
        tone = shade(color) if line.strong else muted()
        traces.append(go.Scatter(
            x=list(line.x), y=rounded(line.y), name=line.name, mode="lines+markers", opacity=1.0 if line.strong else 0.5,
            hovertemplate=f"{line.name}: %{{y:.3g}}<extra></extra>",
            **painted(tone, line.name, width=3 if line.strong else 1.5) | {"marker": {"size": 5}},
        ))  # fmt: skip
    axes = {"xaxis": axis(x) | layout.pop("xaxis", {}), "yaxis": axis(y) | layout.pop("yaxis", {})}
    return figure(traces, **axes, margin={"l": 52, "r": 12, "t": 40, "b": 40}, **layout)
