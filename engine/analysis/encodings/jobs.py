"""The jobs about encodings before and after training: their portraits, their scales, their times."""

from typing import Literal, TypedDict

import numpy as np

from engine.config.run_config import RunConfig
from engine.foundation.job import Job

MatrixKind = Literal["table", "angles", "vectors", "bias"]


class Matrices(TypedDict):
    """Matrices over positions. Long ones hold every ``k``-th position only; ``*_at`` holds the positions."""

    kind: MatrixKind
    """A table [position, dimension], angles [position, pair], vectors [offset, dimension] or a bias [head, query, key]."""
    matrix: np.ndarray
    """The encoding's matrix, [row, column] or [head, query, key]."""
    matrix_at: np.ndarray
    """The position or offset of each row, [row]."""
    similarity: np.ndarray
    """The cosines of two positions, [position, position]; for a bias its mean over the heads."""
    dot: np.ndarray | None
    """The dot products of two positions, [position, position]; None where the encoding has no vectors of positions."""
    similarity_at: np.ndarray
    """The position of each row of the similarity, [position]."""
    only_before: bool
    """Whether a query sees no later key, so that offsets end at 0; the entries over other pairs are blank, as zeros."""
    trained: int
    rows: int
    """The number of positions for which the encoding has values, at most those asked for."""


class Lines(TypedDict):
    """Numbers computed from all positions, also those that ``Matrices`` leaves out."""

    offsets: np.ndarray
    """j - i, key minus query, [offset]; none above 0 where a query sees no later key."""
    profile: np.ndarray
    """The mean similarity, or each head's bias, at each offset, [line, offset]."""
    low: np.ndarray
    high: np.ndarray
    """The extremes over the positions, [line, offset]."""
    singular: np.ndarray
    """Singular values of the table (cosines and sines for angles, the mean bias for a bias) up to the trained length, descending."""
    frequencies: np.ndarray
    power: np.ndarray
    """The share of the power at each frequency (cycles per position)."""
    components: np.ndarray
    """Principal components of the vectors as curves, [component, row]; none for a bias, which has no vectors."""
    components_at: np.ndarray
    """The position or offset of each row, [row]."""
    explained: np.ndarray
    """The share of the variance, [component]."""
    order: float
    """The correlation of the similarity with -|i - j| over the trained positions; NaN where all are alike."""


class Profile(Matrices, Lines):
    """The matrices and lines of an encoding."""


class FirstProfile(Profile):
    """The portrait of an encoding's first weights."""

    added_scale: float
    """The root mean square of the values added to the embedding of random tokens; 0 where none are added."""


class ComputeMatrices(Job[Matrices], function=".portraits:matrices", noun="Computing the encoding's matrices"):
    config: RunConfig
    shown: int


class ComputeProfile(Job[FirstProfile], function=".portraits:profile", noun="Computing the encoding's picture"):
    config: RunConfig
    shown: int


class ComputeProfileOfSnapshot(
    Job[Profile], function=".portraits:profile_of_snapshot", noun="Computing the trained encoding's picture"
):
    folder: str
    config: RunConfig
    step: int
    layer: int


class FollowSnapshots(
    Job[dict[str, list[float]]], function=".portraits:along", noun="Following the encoding through the training"
):
    """``order`` and ``scale`` of the encoding at each of the steps."""

    folder: str
    steps: tuple[int, ...]
    layer: int


class MeasureFinalScales(
    Job[dict[str, float]], function=".portraits:final_scales", noun="Measuring the encoding's final scale"
):
    folder: str
    layer: int


class ComputePreview(Job[dict[str, np.ndarray]], function=".portraits:preview", noun="Computing the preview"):
    """The encoding with which a run would start, over more than the trained length where it has rows there, float32: its ``matrix``, a
    table [position, d_model], a bias [head, query, key] or angles [position, d_head / 2], and the ``similarity`` [position, position]."""

    config: RunConfig


class Timing(TypedDict):
    """The time of one forward pass without gradient, with the encoding and without."""

    ratio: float
    """Seconds with the encoding over seconds without: the median over the pairs."""
    low: float
    high: float
    """The quartiles of the pairs' ratios."""
    seconds: float
    """Seconds with the encoding, the median."""


class TimeForward(
    Job[list[Timing]], function="engine.analysis.measurements.cost:forward_times", noun="Measuring the forward time"
):
    configs: tuple[RunConfig, ...]
