"""A matrix for the browser: coarse enough to draw, in bytes if sent repeatedly, and as a heatmap."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
import plotly.graph_objects as go

from pages.parts.charts.base import Axis, Trace, axis, color_bar, figure
from pages.parts.charts.colors import ScalePair

MAX_DRAWN_CELLS = 160_000  # of one matrix; redrawing more is noticeably slow
LEVELS = 255  # steps between the values of a byte
MAX_SENT_CELLS = 600_000  # 3.5 MB of a message, which may have 20 MB
MAX_LABELS = 24


class Grid(TypedDict):
    """A matrix of bytes; ``(byte - zero) * step`` is a value to within ``step / 2``. For drawing: saved data are
    exact."""

    shape: list[int]
    whole: list[int]  # the shape of the original array
    block: list[int]  # the numbers of original rows and columns in one cell
    low: float
    high: float
    zero: float  # the byte of the value 0: a whole number if 0 is on the scale, so that 0 comes back as 0
    step: float  # difference of the values of two neighbouring bytes
    values: str  # base64 of the bytes, row by row


def grid(array: np.ndarray, low: float | None = None, high: float | None = None, cells: int = MAX_DRAWN_CELLS) -> Grid:
    """An array ``[..., row, column]`` as bytes between ``low`` and ``high``, by default its extremes."""
    coarse, block = coarsen(np.nan_to_num(np.asarray(array, dtype=np.float32)), cells)
    low = float(coarse.min()) if low is None else low
    high = float(coarse.max()) if high is None else high
    zero, step = _levels(low, high)
    level = np.clip(np.rint(coarse.astype(float) / step + zero), 0, LEVELS).astype(np.uint8)
    values = base64.b64encode(level.tobytes()).decode("ascii")
    return Grid(
        shape=list(coarse.shape), whole=list(np.shape(array)), block=list(block), low=low, high=high, zero=zero, step=step, values=values
    )  # fmt: skip


def _levels(low: float, high: float) -> tuple[float, float]:
    """``zero`` and ``step`` of a scale. If 0 is inside it, the step is the smallest that covers both ends."""
    if not low < 0 < high:
        step = (high - low or 1.0) / LEVELS
        return (float(LEVELS), step) if high == 0 > low else (-low / step, step)
    zero = min(max(round(-low / (high - low) * LEVELS), 1), LEVELS - 1)
    return float(zero), max(-low / zero, high / (LEVELS - zero))


def coarsen(array: np.ndarray, cells: int) -> tuple[np.ndarray, tuple[int, int]]:
    """The last two axes in blocks, each by its entry of largest magnitude, with at most ``cells`` entries in all.

    NaN stays only where a whole block is NaN.
    """
    rows, columns = array.shape[-2:]
    others = array.size // (rows * columns)
    block_rows = block_columns = 1
    while others * -(-rows // block_rows) * -(-columns // block_columns) > cells:
        if rows / block_rows >= columns / block_columns:
            block_rows += 1
        else:
            block_columns += 1
    if block_rows == block_columns == 1:
        return array, (1, 1)
    padding = [(0, 0)] * (array.ndim - 2) + [(0, -rows % block_rows), (0, -columns % block_columns)]
    padded = np.pad(array.astype(float, copy=False), padding, constant_values=np.nan)
    high, wide = padded.shape[-2] // block_rows, padded.shape[-1] // block_columns
    split = padded.reshape(*array.shape[:-2], high, block_rows, wide, block_columns)  # [..., high, row, wide, column]
    blocks = np.moveaxis(split, -3, -2).reshape(*array.shape[:-2], high, wide, -1)  # [..., high, wide, row * column]
    strongest = np.where(np.isnan(blocks), -1.0, np.abs(blocks)).argmax(-1, keepdims=True)
    return np.take_along_axis(blocks, strongest, -1)[..., 0].astype(array.dtype), (block_rows, block_columns)


# The numbers of each row, or column, by name, as in {"head": [1, 1, 2, 2], "key": [1, 2, 1, 2]}.
Positions = Mapping[str, Sequence[int | None] | np.ndarray]


def largest(array: np.ndarray) -> float:
    """The largest magnitude in an array, as the end of a scale around zero; 1 if all is zero."""
    return float(np.abs(array).max()) or 1.0


def heat(
    array: np.ndarray, unit: str, *, scale: ScalePair, low: float, high: float, x: str | Positions = "key", y: str | Positions = "query",
    bar: bool = True,
) -> Trace:  # fmt: skip
    """The trace of ``array`` [row, column]; entries that are not finite stay empty.

    ``x`` and ``y`` name and number columns and rows, for the hover and saved data; a name alone counts from 1. Only
    columns may have several names. ``low`` and ``high`` are the ends of the scale.

    Numbers are float32. More than :data:`MAX_DRAWN_CELLS` cells are drawn in blocks, each by its entry of largest
    magnitude, and ``customdata`` has the array for saving. Beyond :data:`MAX_SENT_CELLS` cells saved data have the
    blocks, too, and their names say so.
    """
    array = np.asarray(array, dtype=np.float32)
    array = np.where(np.isfinite(array), array, np.float32(np.nan)) + np.float32(0)  # turns -0 into 0
    rows, columns = _count_positions(y, array.shape[0]), _count_positions(x, array.shape[1])
    drawn, block = coarsen(array, MAX_DRAWN_CELLS)
    y0, dy, row = _along(rows, block[0], "y")
    x0, dx, column = _along(columns, block[1], "x")
    whole, label, largest = {}, unit, ""
    if block != (1, 1):
        largest = f", the largest of {block[0]} × {block[1]}"
        if array.size <= MAX_SENT_CELLS:
            whole = {"customdata": array}
        else:
            rows, columns, label = _firsts(rows, block[0]), _firsts(columns, block[1]), f"{unit}{largest}"
    return {
        "type": "heatmap", "z": drawn, **whole, "zmin": low, "zmax": high, "colorscale": scale["light"], "showscale": bar,
        "meta": {"scale": scale, "label": label, "rows": rows, "columns": columns},
        "x0": x0, "dx": dx, "y0": y0, "dy": dy, "hoverongaps": False,
        "hovertemplate": f"{row}, {column}{largest}: %{{z:.3g}}<extra></extra>",
        "colorbar": color_bar(unit),
    }  # fmt: skip


def _count_positions(named: str | Positions, count: int) -> dict[str, list[int | None]]:
    given: Positions = {named: range(1, count + 1)} if isinstance(named, str) else named
    return {name: np.asarray(numbers).tolist() for name, numbers in given.items()}


def _firsts(positions: dict[str, list[int | None]], block: int) -> dict[str, list[int | None]]:
    return {f"{name}, first of {block}": numbers[::block] for name, numbers in positions.items()}


def _along(positions: dict[str, list[int | None]], block: int, axis_name: str) -> tuple[float, float, str]:
    """The place of the first row or column on its axis, the distance to the next one, and the words of the hover.

    A single name places each by its number. Several names share an axis that counts from 0, where tiles begin, and
    the browser writes them into the hover.
    """
    ((name, numbers), *others) = positions.items()
    first, step = 0.0, 1.0
    if not others and len(numbers) and numbers[0] is not None:
        first = float(numbers[0])
        step = float(numbers[1] - first) if len(numbers) > 1 and numbers[1] is not None else 1.0
    words = "%{text}" if others else f"{name} %{{{axis_name}}}"
    return first + step * (block - 1) / 2, step * block, words


def heat_figure(
    trace: Trace | go.Heatmap, *, x: str, y: str, square: bool = False, across: Axis | None = None, down: Axis | None = None, **layout: Any
) -> go.Figure:  # fmt: skip
    """One heatmap, row 0 on top. ``x`` and ``y``: axis titles. ``across`` and ``down``: further axis settings."""
    inside: Axis = {"constrain": "domain"} if square else {}
    quiet: Axis = {"showgrid": False, "ticks": ""} | inside
    return figure(
        [trace],
        xaxis=axis(x, **quiet | (across or {})),
        yaxis=axis(y, **quiet | ({"scaleanchor": "x"} if square else {}) | {"autorange": "reversed"} | (down or {})),
        **{"margin": {"l": 48, "r": 8, "t": 12, "b": 40}} | layout,
    )


def live_heat(unit: str, scale: ScalePair, meta: Mapping[str, Any], bar: Axis | None = None, **more: Any) -> go.Heatmap:
    return go.Heatmap(
        colorscale=scale["light"], hoverinfo="none", colorbar=color_bar(unit, **bar or {}), meta={**meta, "scale": scale}, **more
    )  # fmt: skip


def gap(side: int) -> int:
    return max(1, round(side * 0.12))


def tile_names(letter: str, count: int, side: int) -> Axis:
    wide = side + gap(side)
    return {
        "tickvals": [index * wide + (side - 1) / 2 for index in range(count)],
        "ticktext": [f"{letter}{index + 1}" for index in range(count)],
    }


def labels(names: Sequence[str], most: int = MAX_LABELS, *, last: bool = False) -> Axis:
    """Axis settings with at most ``most`` names at 1, 2, 3 ... ``last``: the last name is always among them."""
    if not names:
        return {}
    positions = list(range(1, len(names) + 1, -(-len(names) // most)))
    if last:
        positions[-1] = len(names)
    # escaped, because Plotly interprets some markup
    texts = [names[index - 1].replace("&", "&amp;").replace("<", "&lt;") for index in positions]
    return {"tickvals": positions, "ticktext": texts, "tickangle": 0}


def upright_words(names: Sequence[str]) -> Axis:
    return {"tickangle": -90} if max(map(len, names), default=0) > 3 else {}
