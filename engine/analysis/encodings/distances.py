import numpy as np

Array = np.ndarray


def by_offset(matrix: Array, offsets: Array) -> tuple[Array, Array, Array]:
    """The mean, smallest and largest entry of each diagonal, all [..., offset].

    ``matrix`` [..., query, key]; an offset is j - i, key minus query. All three agree if only the offset counts.
    """
    diagonals = [np.diagonal(matrix, offset, -2, -1) for offset in offsets.tolist()]
    return tuple(np.stack([reduce(values, -1) for values in diagonals], -1) for reduce in (np.mean, np.min, np.max))  # type: ignore[return-value]


def order(similarity: Array) -> float:
    """The correlation of the similarity with -|i - j| over all pairs j < i: 1 if it falls linearly with distance.

    NaN if the similarity is the same for all pairs. ``similarity`` [position, position].
    """
    first, second = np.tril_indices(len(similarity), -1)
    alike, near = similarity[first, second].astype(float), (second - first).astype(float)
    if len(alike) < 2 or np.ptp(alike) <= 1e-6 * max(1.0, float(np.abs(alike).max())) or np.ptp(near) == 0:
        return float("nan")
    return float(np.corrcoef(alike, near)[0, 1])
