"""A matrix as a heatmap: its exact numbers, names for its cells, axis labels, and square cells where needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pages.parts.charts.base import Axis, Trace, axis, color_bar, figure
from pages.parts.charts.colors import ScalePair
from pages.parts.charts.grids import CELLS, coarsen

WHOLE = 600_000
"""The most cells that are sent: 3.5 MB, and a message of several figures may have 20 MB."""
MOST_LABELS = 24
"""The number of labels above which an axis shows only some."""
Places = Mapping[str, Sequence[int | None] | np.ndarray]
"""The numbers of each row, or column, by name, as in ``{"head": [1, 1, 2, 2], "key": [0, 1, 0, 1]}``."""


def heat(
    array: np.ndarray, unit: str, *, scale: ScalePair, low: float | None = None, high: float | None = None,
    x: str | Places = "key", y: str | Places = "query", digits: str = ".3g", bar: bool = True, **more: Any,
) -> Trace:  # fmt: skip
    """The trace of ``array`` [row, column] as plain data; entries that are not finite stay empty.

    ``x`` and ``y`` name columns and rows in the hover and in the saved data, and give their numbers; a name alone counts from
    0. Only columns may have several names. ``low`` and ``high`` are the ends of the scale, by default the array's extremes.

    All numbers are sent in float32. An array of more than :data:`CELLS` cells is drawn in blocks, each by its entry of
    largest magnitude, and the array itself is sent as ``customdata``, for saving. Beyond :data:`WHOLE` cells the saved data
    hold the entry of each block, too, and their names say so.
    """
    array = np.asarray(array, dtype=np.float32)
    array = np.where(np.isfinite(array), array, np.float32(np.nan)) + np.float32(0)  # turns -0 into 0
    seen = array[~np.isnan(array)]
    low = float(seen.min()) if low is None and seen.size else low or 0.0
    high = float(seen.max()) if high is None and seen.size else high or 0.0
    rows, columns = _counted(y, array.shape[0]), _counted(x, array.shape[1])
    drawn, block = coarsen(array, CELLS)
    y0, dy, row = _along(rows, block[0], "y")
    x0, dx, column = _along(columns, block[1], "x")
    whole, label, largest = {}, unit, ""
    if block != (1, 1):
        largest = f", the largest of {block[0]} × {block[1]}"
        if array.size <= WHOLE:
            whole = {"customdata": array}
        else:
            rows, columns, label = _firsts(rows, block[0]), _firsts(columns, block[1]), f"{unit}{largest}"
    return {
        "type": "heatmap", "z": drawn, **whole, "zmin": low, "zmax": high, "colorscale": scale["light"], "showscale": bar,
        "meta": {"scale": scale, "label": label, "rows": rows, "columns": columns},
        "x0": x0, "dx": dx, "y0": y0, "dy": dy, "hoverongaps": False,
        "hovertemplate": f"{row}, {column}{largest}: %{{z:{digits}}}<extra></extra>",
        "colorbar": color_bar(unit), **more,
    }  # fmt: skip


def _counted(named: str | Places, count: int) -> dict[str, list[int | None]]:
    given: Places = {named: range(count)} if isinstance(named, str) else named
    return {name: np.asarray(numbers).tolist() for name, numbers in given.items()}


def _firsts(places: dict[str, list[int | None]], block: int) -> dict[str, list[int | None]]:
    """The first number of every block."""
    return {f"{name}, first of {block}": numbers[::block] for name, numbers in places.items()}


def _along(places: dict[str, list[int | None]], block: int, axis_name: str) -> tuple[float, float, str]:
    """The place of the first row or column on its axis, the distance to the next one, and the words of the hover.

    With one name the place is its number. Several names need an axis of their own: it counts from 0, and the browser
    writes the names into the hover.
    """
    ((name, numbers), *others) = places.items()
    first, step = 0.0, 1.0
    if not others and len(numbers) and numbers[0] is not None:
        first = float(numbers[0])
        step = float(numbers[1] - first) if len(numbers) > 1 and numbers[1] is not None else 1.0
    words = "%{text}" if others else f"{name} %{{{axis_name}}}"
    return first + step * (block - 1) / 2, step * block, words


def heat_figure(
    trace: Trace, *, x: str, y: str, columns: Sequence[str] = (), rows: Sequence[str] = (), square: bool = False,
    across: Axis | None = None, down: Axis | None = None, **layout: Any,
) -> go.Figure:  # fmt: skip
    """One heatmap, row 0 on top. ``x`` and ``y`` are the axis titles, ``columns`` and ``rows`` labels for the cells.

    ``across`` and ``down`` are further axis settings.
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


def labels(names: Sequence[str], most: int = MOST_LABELS) -> dict[str, Any]:
    """Axis settings that write names at 0, 1, 2 ... instead of numbers, every second or third where there are many."""
    if not names:
        return {}
    shown = list(range(0, len(names), -(-len(names) // most)))
    return {"tickvals": shown, "ticktext": [names[place] for place in shown], "tickangle": 0}
