from typing import Any, TypedDict

import numpy as np

from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import AnswerLayer, Path, Words
from engine.analysis.attention.requests import AttentionKind, ModelRequest, SampleRequest
from engine.config.run_config import RunConfig
from engine.foundation.job import Job
from engine.runs.events import Event, Snapshot

# FLOPs of a training step above which no untrained model is shown: the answer must come while a control moves
MAX_FLOPS = 2e10
MAX_BYTES = 256 * 2**20  # of the predicted peak, for the same reason


class SequenceRead(TypedDict):
    tokens: dict[AttentionKind, tuple[list[str], list[str]]]  # names of the query and of the key tokens
    unknown: list[str]  # parts of the user's text that are not in the vocabulary
    new_length: str  # a sentence on the lengths in training if the user's sequence is shorter


class ReadSequence(Job[SequenceRead], function=".model:sequence", noun="Reading the sequence"):
    config: RunConfig
    request: SampleRequest


class HeadNumbers(TypedDict):
    part: Part
    entropy: float  # in nats
    effective_keys: float  # the mean of exp(entropy)
    distance: float  # the mean attended distance in positions
    kind: str  # with the highest score, or the reason why there is none
    scores: dict[str, float]


class Rollout(TypedDict):
    flow: np.ndarray  # after every layer, [layer, query, token]
    mean: np.ndarray  # over heads, [layer, query, token]


class Heads(TypedDict):
    patterns: dict[str, np.ndarray]  # of one sequence by kind of attention, [layer, head, query, key]
    tokens: dict[AttentionKind, tuple[list[str], list[str]]]
    rows: list[HeadNumbers]
    sequences: int
    named_from: float
    rollout: dict[AttentionKind, Rollout]


class DescribeHeads(Job[Heads], function=".heads:heads", noun="Describing the heads"):
    request: ModelRequest
    sample: SampleRequest


class HeadView(TypedDict):
    metrics: dict[str, float]  # held-out loss (nats) and accuracies of the whole model
    pattern: np.ndarray  # of one sequence, [query, key]
    entropy: float  # the mean in nats


class HeadComparison(TypedDict):
    before: HeadView
    after: HeadView


class SwitchHeadsOff(Job[HeadComparison], function=".changes:switch_heads_off", noun="Switching heads off"):
    request: ModelRequest
    sample: SampleRequest
    part: Part
    off: tuple[Part, ...]
    temperature: float


class EachHeadOff(TypedDict):
    whole: dict[str, float]  # with all heads
    rows: list[dict[str, Any]]
    left_out: int  # the number of heads beyond MAX_HEADS, which were not switched off


class SwitchEachHeadOff(Job[EachHeadOff], function=".changes:each_head_off", noun="Switching each head off in turn"):
    request: ModelRequest


class CompareScores(Job[dict[str, HeadView]], function=".changes:other_scores", noun="Comparing attention scores"):
    request: ModelRequest
    sample: SampleRequest
    part: Part


class CheckResult(TypedDict):
    name: str
    label: str
    value: float | None
    unit: str
    bound: str
    passed: bool | None
    reason: str
    code: str


class FaultyHead(HeadView):
    influence: np.ndarray  # of the logits, [changed token, output]
    checks: list[CheckResult]


class FaultComparison(TypedDict):
    before: FaultyHead
    after: FaultyHead


class SwitchFaultsOn(Job[FaultComparison], function=".checks:switch_faults_on", noun="Switching faults on"):
    request: ModelRequest
    sample: SampleRequest
    part: Part
    faults: tuple[str, ...]


class MeasureEntropyAtFirst(
    Job[dict[str, list[float]]], function=".checks:entropy_at_first", noun="Measuring the entropy before training"
):
    pass


class QuerySteps(TypedDict):
    """The values between one query and its output; :func:`engine.analysis.attention.steps.steps` describes them."""

    keys: list[str]
    position: int
    turned_q: np.ndarray
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
    gate: np.ndarray | None
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


class TraceSteps(Job[QuerySteps], function=".steps:steps", noun="Computing the steps of one query"):
    request: ModelRequest
    sample: SampleRequest
    part: Part
    query: int


class ShowUntrained(Job[list[Event]], function=".model:before_training", noun="Computing the untrained model"):
    """The first events of the config's run: Started, the Snapshot of the untrained model, and the Progress of the first step."""

    config: RunConfig


class ReadUserSequence(Job[Snapshot], function=".model:user_sequence_read", noun="Reading your sequence"):
    """The snapshot of a model without ``ablated_parts`` on the ``text``, token names separated by spaces. An empty text means the first
    held-out sequence, on which a run is watched."""

    request: ModelRequest
    text: str
    ablated_parts: tuple[Part, ...] = ()


class FollowAnswers(
    Job[tuple[list[Path | None], AnswerLayer | None]],
    function=".links:attribute_answers_by_links",
    noun="Following the answers",
):
    """The paths of the answers to the ``text``, with only the links that an answer needs, and the layer in which the answers arise.
    An empty text means the first held-out sequence. Takes a forward pass over a hundred sequences for each part that may be a link."""

    request: ModelRequest
    text: str


class HeadAblation(TypedDict):
    words: tuple[Words, ...]
    details: str  # the numbers behind it, in words


class AblateHead(Job[HeadAblation], function=".head_ablation:head_ablation", noun="Taking the head away"):
    """The answers that a model loses without a head, and the head that takes over. ``text``: token names separated by spaces, or
    empty for the first held-out sequence."""

    request: ModelRequest
    text: str
    head: Part
