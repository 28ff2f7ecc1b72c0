"""The jobs about encodings before and after training: their portraits, their scales, their times. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np

from engine.config.run_config import RunConfig
from engine.foundation.job import Job

Kind = Literal["table", "angles", "vectors", "bias"]


class Pictures(TypedDict):
    """What is drawn over positions. Long pictures show every ``k``-th; ``*_at`` says which."""

    kind: Kind
    """A table [position, dimension], angles [position, pair], vectors [offset, dimension] or a bias [head, query, key]."""
    matrix: np.ndarray
    """[row, column] or [head, query, key]"""
    matrix_at: np.ndarray
    """[row]"""
    similarity: np.ndarray
    """[position, position]: cosine; for a bias its mean over the heads."""
    dot: np.ndarray | None
    """[position, position]; None where there are no vectors of positions to multiply."""
    similarity_at: np.ndarray
    """[position]"""
    only_before: bool
    """Whether a query sees no key after it, only offsets up to 0: the rest of the pictures over pairs is blank, as zeros."""
    trained: int
    rows: int
    """Positions the encoding can name, at most those asked for."""


class Lines(TypedDict):
    """What is counted from all positions, drawn or not."""

    offsets: np.ndarray
    """j - i, key minus query, [offset]; where a query sees nothing after it, none above 0."""
    profile: np.ndarray
    """Mean similarity, or bias of each head, at each offset, [line, offset]."""
    low: np.ndarray
    high: np.ndarray
    """Over the positions, [line, offset]."""
    singular: np.ndarray
    """Of the table (cosines and sines for angles, the mean bias for a bias) up to the trained length, descending."""
    frequencies: np.ndarray
    power: np.ndarray
    """Share of the power at each frequency (cycles a position)."""
    components: np.ndarray
    """Principal components of the vectors as curves, [component, row]; none for a bias, which has no vectors."""
    components_at: np.ndarray
    """[row]"""
    explained: np.ndarray
    """Share of the variance, [component]."""
    order: float
    """Correlation of the similarity with -|i - j| over the trained positions; NaN where all are alike."""


class Portrait(Pictures, Lines):
    """Both."""


class Effect(TypedDict):
    """What the encoding does to random tokens of the config's own scale."""

    on_content: bool
    """Whether what it adds depends on what the tokens are."""
    added_scale: float
    """Root mean square of what is added to the embedding; 0 where nothing is."""
    token_scale: float


class FirstPortrait(Portrait, Effect):
    """Of first weights."""


@dataclass(frozen=True)
class DrawPictures(Job[Pictures]):
    function = "engine.analysis.encodings:pictures"
    config: RunConfig
    shown: int


@dataclass(frozen=True)
class DrawPortrait(Job[FirstPortrait]):
    function = "engine.analysis.encodings:portrait"
    config: RunConfig
    shown: int


@dataclass(frozen=True)
class DrawSnapshot(Job[Portrait]):
    function = "engine.analysis.encodings:portrait_of_snapshot"
    folder: str
    config: RunConfig
    step: int
    layer: int


@dataclass(frozen=True)
class FollowSnapshots(Job[dict[str, list[float]]]):
    """``order`` and ``scale`` at each of the steps."""

    function = "engine.analysis.encodings:along"
    folder: str
    steps: tuple[int, ...]
    layer: int


@dataclass(frozen=True)
class MeasureFinalScales(Job[dict[str, float]]):
    function = "engine.analysis.encodings:final_scales"
    folder: str
    layer: int


class Look(TypedDict):
    """The encoding that a run would start with."""

    matrix: np.ndarray
    """A table [position, d_model], a bias [head, query, key], or angles [position, d_head / 2], float32."""
    similarity: np.ndarray
    """[position, position], float32."""
    distance: np.ndarray
    """The mean similarity of positions so far apart, [offset]."""
    trained: int
    """The longest length trained."""
    length: int
    """Positions shown."""
    parameters: int
    """Numbers that the encoding learns, in all stacks and layers."""


@dataclass(frozen=True)
class LookAtDesign(Job[Look]):
    function = "engine.analysis.design:first_look"
    config: RunConfig


class Timing(TypedDict):
    """Of one forward pass without gradient."""

    ratio: float
    """Seconds with the encoding over seconds without: the median of the pairs."""
    low: float
    high: float
    """The quartiles of the pairs."""
    seconds: float
    """With the encoding, the median."""


@dataclass(frozen=True)
class TimeForward(Job[list[Timing]]):
    function = "engine.analysis.forward_time:forward_times"
    configs: tuple[RunConfig, ...]


@dataclass(frozen=True)
class TimeEncodings(Job[dict[str, Timing]]):
    function = "engine.analysis.forward_time:measure_all"
    config: RunConfig
    names: tuple[str, ...]


@dataclass(frozen=True)
class ReadTimes(Job[dict[str, Timing]]):
    function = "engine.analysis.forward_time:known_times"
