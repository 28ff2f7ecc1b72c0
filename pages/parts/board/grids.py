"""Matrices for the browser: few enough cells, one byte each, with the scale to read them by."""

from __future__ import annotations

import base64
from typing import TypedDict

import numpy as np

CELLS = 160_000
"""At most so many cells a picture; a redraw of more is felt."""


class Grid(TypedDict):
    """``low + byte / 255 * (high - low)`` gives a value back to within ``(high - low) / 510``."""

    shape: list[int]
    block: list[int]
    """How many rows and columns of the original one cell stands for."""
    low: float
    high: float
    values: str
    """Base64 of the bytes, row by row."""


def grid(array: np.ndarray, low: float | None = None, high: float | None = None, cells: int = CELLS) -> Grid:
    """An array ``[..., row, column]`` as bytes between ``low`` and ``high`` (its own extremes if not given)."""
    coarse, block = coarsen(np.nan_to_num(np.asarray(array, dtype=np.float32)), cells)
    low = float(coarse.min()) if low is None else low
    high = float(coarse.max()) if high is None else high
    span = high - low or 1.0
    level = np.rint((np.clip(coarse, low, high) - low) / span * 255).astype(np.uint8)
    return Grid(
        shape=list(coarse.shape),
        block=list(block),
        low=low,
        high=low + span,
        values=base64.b64encode(level.tobytes()).decode("ascii"),
    )


def coarsen(array: np.ndarray, cells: int) -> tuple[np.ndarray, tuple[int, int]]:
    """The last two axes in blocks, each shown by its entry of largest magnitude, until at most ``cells`` are left."""
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
    padded = np.pad(array, padding)
    high, wide = padded.shape[-2] // block_rows, padded.shape[-1] // block_columns
    split = padded.reshape(*array.shape[:-2], high, block_rows, wide, block_columns)  # [..., high, row, wide, column]
    blocks = np.moveaxis(split, -3, -2).reshape(*array.shape[:-2], high, wide, -1)  # [..., high, wide, row * column]
    strongest = np.abs(blocks).argmax(-1, keepdims=True)
    return np.take_along_axis(blocks, strongest, -1)[..., 0], (block_rows, block_columns)
