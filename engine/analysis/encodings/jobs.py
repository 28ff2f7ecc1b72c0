from typing import Literal, TypedDict

import numpy as np

from engine.config.run_config import RunConfig
from engine.foundation.job import Job

MatrixKind = Literal["table", "angles", "vectors", "bias"]


class Matrices(TypedDict):
    """Matrices over positions. Long ones hold only every ``k``-th position; ``*_at`` holds the positions."""

    kind: MatrixKind
    """A table [position, dimension], angles [position, pair], vectors [offset, dimension] or a bias [head, query, key]."""
    matrix: np.ndarray  # [row, column] or [head, query, key]
    matrix_at: np.ndarray  # the position or offset of each row, [row]
    # the cosines of two positions, [position, position]; for a bias its mean over the heads
    similarity: np.ndarray
    # the dot products of two positions, [position, position]; None if the encoding has no vectors of positions
    dot: np.ndarray | None
    similarity_at: np.ndarray  # the position of each row of the similarity, [position]
    # a query sees no later key, so that offsets end at 0; the entries over other pairs are blank, as zeros
    only_before: bool
    trained: int
    rows: int  # positions for which the encoding has values, at most as many as requested


class Lines(TypedDict):
    offsets: np.ndarray  # j - i, key minus query, [offset]; none above 0 if a query sees no later key
    profile: np.ndarray  # the mean similarity, or each head's bias, at each offset, [line, offset]
    # the extremes over the positions, [line, offset]
    low: np.ndarray
    high: np.ndarray
    order: float
    """The correlation of the similarity with -|i - j| over the trained positions; NaN if the similarity is the same everywhere."""


class Profile(Matrices, Lines):
    added_scale: float  # RMS of the values added to the embedding of random tokens; 0 if none are added


class ComputeMatrices(Job[Matrices], function=".profiles:matrices", noun="Computing the encoding's matrices"):
    config: RunConfig
    n_positions: int


class ComputeProfile(Job[Profile], function=".profiles:profile", noun="Computing the encoding's picture"):
    config: RunConfig
    n_positions: int


class Timing(TypedDict):
    ratio: float  # seconds with the encoding over seconds without: the median over the pairs
    low: float
    high: float  # quartiles of the pairs' ratios
    seconds: float  # with the encoding, the median


class TimeForward(
    Job[list[Timing]], function="engine.analysis.measurements.cost:forward_times", noun="Measuring the forward time"
):
    configs: tuple[RunConfig, ...]
