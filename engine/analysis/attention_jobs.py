"""The jobs of the Attention page: what is asked of a trained model, and the answers. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from engine.analysis.attention_asked import ModelAsked, Place, SampleAsked, Which
from engine.config.run_config import RunConfig
from engine.foundation.job import Job


class SequenceRead(TypedDict):
    queries: dict[Which, list[str]]
    """The names of the tokens, by kind of attention."""
    keys: dict[Which, list[str]]
    samples: int
    """How many numbered sequences there are."""
    unknown: list[str]
    """Pieces of the reader's own text that are not in the vocabulary."""


@dataclass(frozen=True)
class ReadSequence(Job[SequenceRead]):
    function = "engine.analysis.attention_model:sequence"
    config: RunConfig
    asked: SampleAsked


class StepsDone(TypedDict):
    step: int
    steps: int


@dataclass(frozen=True)
class TrainAgain(Job[StepsDone]):
    function = "engine.analysis.attention_model:train_again"
    asked: ModelAsked
    seconds: float


class HeadNumbers(TypedDict):
    """Means over held-out sequences."""

    which: Which
    layer: int
    head: int
    entropy: float
    """In nats."""
    effective_keys: float
    """The mean of the entropy's exponential."""
    distance: float
    """In positions."""
    kind: str
    """The kind of head with the best score, or why it has none."""
    scores: dict[str, float]
    """By kind."""


class Rollout(TypedDict):
    flow: np.ndarray
    """The flow after every layer, [layer, query, token]."""
    mean: np.ndarray
    """The plain mean over heads, [layer, query, token]."""


class Heads(TypedDict):
    patterns: dict[str, np.ndarray]
    """Of one sequence by kind of attention, [layer, head, query, key]."""
    tokens: dict[Which, tuple[list[str], list[str]]]
    """The names of its queries and keys."""
    rows: list[HeadNumbers]
    sequences: int
    """Held-out sequences behind the numbers."""
    named_from: float
    """The score from which on a head gets a name."""
    rollout: dict[Which, Rollout]


@dataclass(frozen=True)
class DescribeHeads(Job[Heads]):
    function = "engine.analysis.attention_heads:heads"
    asked: ModelAsked
    sample: SampleAsked


@dataclass(frozen=True)
class ComputePatterns(Job[dict[str, np.ndarray]]):
    function = "engine.analysis.attention_heads:patterns"
    asked: ModelAsked
    sample: SampleAsked


class HeadSeen(TypedDict):
    metrics: dict[str, float]
    """Held-out ``loss`` (nats) and accuracies of the whole model."""
    pattern: np.ndarray
    """Of one head for one sequence, [query, key]."""
    entropy: float
    """The pattern's mean entropy (nats)."""


class Changed(TypedDict):
    before: HeadSeen
    after: HeadSeen


@dataclass(frozen=True)
class SwitchHeadsOff(Job[Changed]):
    function = "engine.analysis.attention_changes:without_heads"
    asked: ModelAsked
    sample: SampleAsked
    place: Place
    off: tuple[Place, ...]
    temperature: float


class EachHeadOff(TypedDict):
    whole: dict[str, float]
    """The metrics with all heads."""
    rows: list[dict[str, Any]]
    """One a head: its ``which``, ``layer`` and ``head``, with the metrics without it."""
    left_out: int
    """Heads beyond those that were switched off."""


@dataclass(frozen=True)
class SwitchEachHeadOff(Job[EachHeadOff]):
    function = "engine.analysis.attention_changes:each_head_off"
    asked: ModelAsked


@dataclass(frozen=True)
class CompareScores(Job[dict[str, HeadSeen]]):
    function = "engine.analysis.attention_changes:other_scores"
    asked: ModelAsked
    sample: SampleAsked
    place: Place


class CheckResult(TypedDict):
    name: str
    label: str
    value: float | None
    unit: str
    bound: str
    """In words."""
    passed: bool | None
    """None where the check does not apply."""
    reason: str
    """Why it does not apply."""
    code: str
    """The code that was executed."""


class FaultySeen(HeadSeen):
    influence: np.ndarray
    """[changed token, output] in logits."""
    checks: list[CheckResult]


class Faulty(TypedDict):
    before: FaultySeen
    after: FaultySeen


@dataclass(frozen=True)
class SwitchFaultsOn(Job[Faulty]):
    function = "engine.analysis.attention_checks:faults_seen"
    asked: ModelAsked
    sample: SampleAsked
    place: Place
    faults: tuple[str, ...]


@dataclass(frozen=True)
class MeasureEntropyAtFirst(Job[dict[str, list[float]]]):
    function = "engine.analysis.attention_checks:entropy_at_first"


class Steps(TypedDict):
    """Every number between one query and its output; what each is, :func:`engine.analysis.attention_steps.steps` says."""

    queries: list[str]
    keys: list[str]
    query: int
    position: int
    key_positions: list[int]
    q: np.ndarray
    turned_q: np.ndarray
    k: np.ndarray
    turned_k: np.ndarray
    v: np.ndarray
    product: np.ndarray
    turned: np.ndarray
    scaled: np.ndarray
    bias: np.ndarray
    by_encoding: np.ndarray
    score: np.ndarray
    blocked: np.ndarray
    weight: np.ndarray
    pattern: np.ndarray
    weighted: np.ndarray
    value_term: np.ndarray | None
    mixed: np.ndarray
    projected: np.ndarray
    bias_out: np.ndarray
    out: np.ndarray
    gap: float
    rotates: bool
    predicted: str
    target: str
    d_head: int
    d_model: int


@dataclass(frozen=True)
class TraceSteps(Job[Steps]):
    function = "engine.analysis.attention_steps:steps"
    asked: ModelAsked
    sample: SampleAsked
    place: Place
    query: int
