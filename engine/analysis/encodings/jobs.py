from typing import Literal, TypedDict

import numpy as np

from engine.config.run_config import RunConfig
from engine.foundation.job import Job

MatrixKind = Literal["table", "angles", "vectors", "bias"]


class Matrices(TypedDict):
    """Matrices over positions. Long ones hold every ``k``-th position only; ``*_at`` holds the positions."""

    kind: MatrixKind
    """A table [position, dimension], angles [position, pair], vectors [offset, dimension] or a bias [head, query, key]."""
    matrix: np.ndarray  # [row, column] or [head, query, key]
    matrix_at: np.ndarray
    """The position or offset of each row, [row]."""
    similarity: np.ndarray
    """The cosines of two positions, [position, position]; for a bias its mean over the heads."""
    dot: np.ndarray | None
    """The dot products of two positions, [position, position]; None if the encoding has no vectors of positions."""
    similarity_at: np.ndarray
    """The position of each row of the similarity, [position]."""
    only_before: bool
    """True if a query sees no later key, so that offsets end at 0; the entries over other pairs are blank, as zeros."""
    trained: int
    rows: int
    """Positions for which the encoding has values, at most those asked for."""


class Lines(TypedDict):
    """Numbers computed from all positions, also those that ``Matrices`` leaves out."""

    offsets: np.ndarray
    """j - i, key minus query, [offset]; none above 0 if a query sees no later key."""
    profile: np.ndarray
    """The mean similarity, or each head's bias, at each offset, [line, offset]."""
    low: np.ndarray
    high: np.ndarray
    """The extremes over the positions, [line, offset]."""
    order: float
    """The correlation of the similarity with -|i - j| over the trained positions; NaN if all are alike."""


class Profile(Matrices, Lines):
    added_scale: float
    """The root mean square of the values added to the embedding of random tokens; 0 if none are added."""


class ComputeMatrices(Job[Matrices], function=".profiles:matrices", noun="Computing the encoding's matrices"):
    config: RunConfig
    shown: int


class ComputeProfile(Job[Profile], function=".profiles:profile", noun="Computing the encoding's picture"):
    config: RunConfig
    shown: int


class Timing(TypedDict):
    """The time of one forward pass without gradient, with the encoding and without."""

    ratio: float
    """Seconds with the encoding over seconds without: the median over the pairs."""
    low: float
    high: float  # quartiles of the pairs' ratios
    seconds: float  # with the encoding, the median


class TimeForward(
    Job[list[Timing]], function="engine.analysis.measurements.cost:forward_times", noun="Measuring the forward time"
):
    configs: tuple[RunConfig, ...]
