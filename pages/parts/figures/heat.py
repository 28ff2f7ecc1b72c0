"""A matrix as a picture: one byte a cell where it is large, labels on the axes, cells square where they should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts.board.grids import grid
from pages.parts.colors import ScalePair
from pages.parts.figures.base import Axis, Trace, axis, figure

EXACT = 4096
"""Up to so many cells values are sent as they are; beyond it to 1/255 of the scale."""
MOST_LABELS = 32
"""More labels than this and only some are written on an axis."""


def heat(
    array: np.ndarray, unit: str, *, scale: ScalePair, low: float | None = None, high: float | None = None,
    x: str = "key", y: str = "query", digits: str = ".3g", first: tuple[float, float] = (0, 0), bar: bool = True, **more: Any,
) -> Trace:  # fmt: skip
    """The trace of ``array`` [row, column], plain; not finite entries stay empty where it is sent as it is.

    ``x`` and ``y`` name a column and a row in the hover, ``first`` is where the first column and row stand. ``low`` and
    ``high`` are the ends of the scale, by default the array's own.
    """
    array = np.asarray(array, dtype=np.float32)
    finite = array[np.isfinite(array)]
    low = float(finite.min()) if low is None and finite.size else low or 0.0
    high = float(finite.max()) if high is None and finite.size else high or 0.0
    meta: dict[str, Any] = {"scale": scale, "label": unit}
    cells: dict[str, Any] = {}
    block = (1, 1)
    if array.size <= EXACT:
        cells = {"z": [[float(f"{v:.5g}") if np.isfinite(v) else None for v in row] for row in array.tolist()]}
    else:
        meta["bytes"] = grid(array, low, high)
        block = (meta["bytes"]["block"][0], meta["bytes"]["block"][1])
    return {
        "type": "heatmap", "zmin": low, "zmax": high, "colorscale": scale["light"], "meta": meta, "showscale": bar,
        "x0": first[0] + (block[1] - 1) / 2, "dx": block[1], "y0": first[1] + (block[0] - 1) / 2, "dy": block[0],
        "hovertemplate": f"{y} %{{y}}, {x} %{{x}}: %{{z:{digits}}}<extra></extra>",
        "colorbar": {"title": {"text": unit, "side": "right"}, "thickness": 10, "outlinewidth": 0}, **cells, **more,
    }  # fmt: skip


def heat_figure(
    trace: Trace, *, x: str, y: str, columns: Sequence[str] = (), rows: Sequence[str] = (), square: bool = False,
    across: Axis | None = None, down: Axis | None = None, **layout: Any,
) -> go.Figure:  # fmt: skip
    """One picture, row 0 on top. ``x`` and ``y`` are the axes' titles, ``columns`` and ``rows`` labels for their cells.

    ``across`` and ``down`` are more settings of the axes.
    """
    keep: dict[str, Any] = {"scaleanchor": "x", "constrain": "domain"} if square else {}
    inside: dict[str, Any] = {"constrain": "domain"} if square else {}
    quiet: dict[str, Any] = {"showgrid": False, "ticks": ""}
    return figure(
        [trace],
        xaxis=axis(x, **quiet | inside | labels(columns) | (across or {})),
        yaxis=axis(y, **quiet | keep | {"autorange": "reversed"} | labels(rows) | (down or {})),
        **{"margin": {"l": 48, "r": 8, "t": 12, "b": 40}} | layout,
    )


def labels(names: Sequence[str]) -> dict[str, Any]:
    """Axis settings that write names at 0, 1, 2 ... in place of numbers, every second or third where there are many."""
    if not names:
        return {}
    shown = list(range(0, len(names), -(-len(names) // MOST_LABELS)))
    return {"tickvals": shown, "ticktext": [names[place] for place in shown], "tickangle": 0}
