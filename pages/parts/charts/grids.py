"""Matrices for the browser: few enough cells, and one byte each where they are sent repeatedly."""

from __future__ import annotations

import base64
from typing import TypedDict

import numpy as np

CELLS = 160_000
"""The most cells of one matrix; redrawing more is noticeably slow."""
LEVELS = 255
"""The number of steps between the values of a byte."""


class Grid(TypedDict):
    """A matrix of bytes; ``(byte - zero) * step`` is a value to within ``step / 2``. For drawing: saved data are exact."""

    shape: list[int]
    whole: list[int]
    """The shape of the original array."""
    block: list[int]
    """The numbers of rows and columns of the original in one cell."""
    low: float
    high: float
    """The ends of the scale."""
    zero: float
    """The byte of the value 0: a whole number wherever 0 lies on the scale, so that 0 comes back as 0."""
    step: float
    """The difference of values between one byte and the next."""
    values: str
    """Base64 of the bytes, row by row."""


def grid(array: np.ndarray, low: float | None = None, high: float | None = None, cells: int = CELLS) -> Grid:
    """An array ``[..., row, column]`` as bytes between ``low`` and ``high`` (its own extremes if not given)."""
    coarse, block = coarsen(np.nan_to_num(np.asarray(array, dtype=np.float32)), cells)
    low = float(coarse.min()) if low is None else low
    high = float(coarse.max()) if high is None else high
    zero, step = _levels(low, high)
    level = np.clip(np.rint(coarse.astype(float) / step + zero), 0, LEVELS).astype(np.uint8)
    return Grid(
        shape=list(coarse.shape),
        whole=list(np.shape(array)),
        block=list(block),
        low=low,
        high=high,
        zero=zero,
        step=step,
        values=base64.b64encode(level.tobytes()).decode("ascii"),
    )


def _levels(low: float, high: float) -> tuple[float, float]:
    """``zero`` and ``step`` of a scale. Where 0 lies inside it, the step is the smallest that covers both ends."""
    if not low < 0 < high:
        step = (high - low or 1.0) / LEVELS
        return (float(LEVELS), step) if high == 0 > low else (-low / step, step)
    zero = min(max(round(-low / (high - low) * LEVELS), 1), LEVELS - 1)
    return float(zero), max(-low / zero, high / (LEVELS - zero))


def coarsen(array: np.ndarray, cells: int) -> tuple[np.ndarray, tuple[int, int]]:
    """The last two axes in blocks, each represented by its entry of largest magnitude, until at most ``cells`` are left.

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
