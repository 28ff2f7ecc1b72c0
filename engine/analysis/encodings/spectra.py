"""Numbers of a table or a matrix over positions: profile over distance, singular values, Fourier, components, order."""

import numpy as np
import torch

Array = np.ndarray


def by_offset(matrix: Array, offsets: Array) -> tuple[Array, Array, Array]:
    """The mean, smallest and largest entry of each diagonal, all [..., offset].

    ``matrix`` [..., query, key]; an offset is j - i, key minus query. All three agree where only the offset counts.
    """
    found = [np.diagonal(matrix, offset, -2, -1) for offset in offsets.tolist()]
    return tuple(np.stack([reduce(own, -1) for own in found], -1) for reduce in (np.mean, np.min, np.max))  # type: ignore[return-value]


def singular_values(matrix: Array) -> Array:
    """Singular values, descending, [min(row, column)]. By torch, whose threads a worker limits; numpy's would slow the training."""
    return np.asarray(torch.linalg.svdvals(torch.from_numpy(np.ascontiguousarray(matrix))))


def fourier(columns: Array) -> tuple[Array, Array]:
    """Frequencies in cycles per position and the share of the power at each, summed over the columns, both [frequency].

    ``columns`` [position, column]. The mean of each column is subtracted first.
    """
    power = (np.abs(np.fft.rfft(columns - columns.mean(0), axis=0)) ** 2).sum(1)
    total = power.sum()
    return np.fft.rfftfreq(len(columns)), power / total if total > 0 else power


def components(rows: Array, trained: int, count: int = 3) -> tuple[Array, Array]:
    """Principal components as curves over the position, [component, position], and the share of variance of each.

    ``rows`` [position, dimension]; the directions are those of the first ``trained`` rows. The sign is chosen so that the
    entry of largest magnitude is positive.
    """
    mean = rows[:trained].mean(0)
    parts = torch.linalg.svd(torch.from_numpy(rows[:trained] - mean), full_matrices=False)
    _, sizes, directions = map(np.asarray, parts)
    curves = (rows - mean) @ directions[:count].T  # [position, component]
    strongest = np.take_along_axis(curves, np.abs(curves).argmax(0)[None], 0)
    total = (sizes**2).sum()
    explained = sizes[:count] ** 2 / total if total > 0 else np.zeros(len(sizes[:count]))
    return (curves * np.where(strongest < 0, -1.0, 1.0)).T, explained


def order(similarity: Array) -> float:
    """The correlation of the similarity with -|i - j| over all pairs j < i: 1 where it falls linearly with distance.

    NaN where all pairs are equally alike. ``similarity`` [position, position].
    """
    first, second = np.tril_indices(len(similarity), -1)
    alike, near = similarity[first, second].astype(float), (second - first).astype(float)
    if len(alike) < 2 or np.ptp(alike) <= 1e-6 * max(1.0, float(np.abs(alike).max())) or np.ptp(near) == 0:
        return float("nan")
    return float(np.corrcoef(alike, near)[0, 1])
