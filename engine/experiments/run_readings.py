"""Numbers read from a run's events alone (right answers, equal symbols, heads that read the mirrored position), and the readings
that decide a question from them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np

from engine.config.run_config import RunConfig
from engine.estimate.layout import metric_names, validation_size
from engine.experiments.question import Direction, Observed, Reading
from engine.foundation.formatting import counted, percent
from engine.runs.events import Ended, Failed, Finished, Progress, Sample, Snapshot, Started
from engine.runs.log import EventLog
from engine.runs.summary import LEARNED_ACCURACY, clearly_above, run_summary

REACHED_ACCURACY = 0.9  # the share of right answers whose first step is reported
# the share of positions at which a head's strongest weight has to lie on the mirrored position, so that the head reads it
AT_MIRROR = 0.8
# the share of positions whose strongest weights have to lie at one distance, so that the head reads at this distance: no other
# distance than 0 has a partner for every position
AT_ONE_DISTANCE = 0.5

POSITIONS = 8
# weights [query, key], one for each answer to picture_of_the_weights
PICTURES = (
    np.eye(POSITIONS)[::-1],  # mirrored
    np.eye(POSITIONS, k=2),  # one distance
    np.random.default_rng(1).dirichlet(np.ones(POSITIONS), POSITIONS),  # spread
)


@dataclass(frozen=True)
class Score:
    """The share of right answers on held-out sequences."""

    value: float
    chance: float
    sequences: int


@dataclass(frozen=True)
class Head:
    layer: int
    head: int
    """Counted from 0, as ``layer`` is."""
    positions: int
    """The number of queries."""
    hits: int
    """The number of positions whose strongest weight lies on the mirrored position."""
    weight: float
    """The mean weight on the mirrored position."""
    at_distance: int
    """The number of positions whose strongest weight lies at the commonest distance."""

    @property
    def at_mirror(self) -> bool:
        return self.hits >= AT_MIRROR * self.positions

    @property
    def at_one_distance(self) -> bool:
        return self.at_distance >= AT_ONE_DISTANCE * self.positions


def score_of(config: RunConfig, events: EventLog) -> Score | None:
    finished, name = events.last(Finished), metric_names(config)[0]
    if finished is None or name not in finished.metrics:
        return None
    chance = events.of(Started)[0].chance.get(name, 0.0)
    return Score(finished.metrics[name], chance, validation_size(config.seq_len))


def step_reaching(config: RunConfig, events: EventLog, share: float) -> int | None:
    name, finished = metric_names(config)[0], events.last(Finished)
    measured = [(one.step, one.validation) for one in events.landmarks() if isinstance(one, Progress)]
    if finished is not None:
        measured.append((finished.step, finished.metrics))
    return next((step for step, metrics in measured if metrics is not None and metrics.get(name, 0.0) >= share), None)


def equal_symbols(samples: Iterable[Sample]) -> tuple[int, int]:
    """The number of pairs of equal symbols among the answered positions of each sequence, and how many of them have two
    equal answers."""
    pairs = same = 0
    for sample in samples:
        answered = [position for position, target in enumerate(sample.targets) if target != ""]
        for one, other in combinations(answered, 2):
            if sample.tokens[one] == sample.tokens[other]:
                pairs += 1
                same += sample.predictions[one] == sample.predictions[other]
    return pairs, same


def heads_of(pattern: np.ndarray) -> list[Head]:
    """Every head of a pattern [layer, head, query, key] whose key ``n - 1 - i`` mirrors query ``i``."""
    layers, heads, positions, keys = pattern.shape
    mirror = keys - 1 - np.arange(positions)
    strongest = pattern.argmax(-1)
    hits = (strongest == mirror).sum(-1)
    distances = strongest - np.arange(positions)
    weights = pattern[..., np.arange(positions), mirror].mean(-1)
    return [
        Head(
            layer,
            head,
            positions,
            int(hits[layer, head]),
            float(weights[layer, head]),
            int(np.unique(distances[layer, head], return_counts=True)[1].max()),
        )
        for layer in range(layers)
        for head in range(heads)
    ]


class FinishedRun(NamedTuple):
    config: RunConfig
    events: EventLog
    score: Score

    @property
    def heads(self) -> list[Head]:
        """At the end of the run; empty if the model has no attention."""
        snapshot = self.events.last(Snapshot)
        return [] if snapshot is None or "self" not in snapshot.patterns else heads_of(snapshot.patterns["self"])

    @property
    def in_words(self) -> str:
        right, guessing = percent(self.score.value), percent(self.score.chance)
        return f"On {self.score.sequences} new sequences {right} of the answers are right; guessing gives {guessing}."

    @property
    def in_short(self) -> str:
        return f"{percent(self.score.value)} of the answers are right."


def right_count(run: FinishedRun) -> Observed:
    above = clearly_above(run.score.value, run.score.chance, run.score.sequences)
    return Observed((1 if run.score.value >= LEARNED_ACCURACY else 0 if above else -1,), run.in_words)


def picture_of_the_weights(run: FinishedRun) -> Observed | None:
    if not (heads := run.heads):
        return None
    answer: Direction = -1 if any(head.at_mirror for head in heads) else 1
    if answer == 1 and any(head.at_one_distance for head in heads):
        answer = 0
    most = max(head.at_distance for head in heads)
    commonest = f"The commonest distance is used at {most} of {heads[0].positions} positions."
    return Observed((answer,), f"{_clearest_in_words(heads)} {commonest} {run.in_short}")


def step_of_most_right(run: FinishedRun) -> Observed:
    step, steps = step_reaching(run.config, run.events, REACHED_ACCURACY), run.config.steps
    if step is None:
        return Observed((-1,), f"The model never had {percent(REACHED_ACCURACY)} right. {run.in_words}")
    return Observed(
        (1 if 2 * step <= steps else 0,),
        f"At step {step:,} of {steps:,}, {percent(REACHED_ACCURACY)} of the answers were right. {run.in_words}",
    )


def answers_to_equal_symbols(run: FinishedRun) -> Observed | None:
    snapshot = run.events.last(Snapshot)
    if snapshot is None:
        return None
    pairs, same = equal_symbols(snapshot.samples)
    sentence = "No two positions in the figure hold the same symbol; try another seed."
    if pairs:
        sentence = f"The figure has {counted(pairs, 'pair')} of positions with the same symbol (dotted)"
        sentence += f": {same} of {pairs} got the same answer."
    right: tuple[Direction, ...] = () if not pairs else (1,) if same == pairs else (0,) if same else (-1,)
    return Observed(right, f"{sentence} {run.in_words}")


def heads_at_the_mirror(run: FinishedRun) -> Observed | None:
    if not (heads := run.heads):
        return None
    reading = sum(head.at_mirror for head in heads)
    answer: Direction = 1 if reading == len(heads) else 0 if reading else -1
    counts = f"{reading} of {len(heads)} heads read the mirrored position. " if len(heads) > 1 else ""
    return Observed((answer,), f"{counts}{_clearest_in_words(heads)} {run.in_short}")


def layer_at_the_mirror(run: FinishedRun) -> Observed | None:
    if not (heads := run.heads):
        return None
    layers = [head.layer for head in heads if head.at_mirror]
    answer: Direction = -1 if not layers else 0 if min(layers) == 0 else 1
    best = [_clearest(list(of_layer)) for _, of_layer in groupby(heads, key=lambda head: head.layer)]
    counts = "; ".join(f"layer {head.layer + 1} at {head.hits} of {head.positions} positions" for head in best)
    return Observed((answer,), f"The largest weight lies on the mirrored position in {counts}. {run.in_short}")


def _clearest(heads: Sequence[Head]) -> Head:
    return max(heads, key=lambda head: (head.hits, head.weight))


def _clearest_in_words(heads: Sequence[Head]) -> str:
    best = _clearest(heads)
    which = "The head" if len(heads) == 1 else f"Head {best.head + 1} of layer {best.layer + 1}"
    return (
        f"{which} has its largest weight on the mirrored position at {best.hits} of {best.positions} positions: "
        f"{percent(best.weight)} of the weight on average."
    )


def has_learned(config: RunConfig, events: EventLog) -> Observed | None:
    has_ended = any(events.last(kind) for kind in (Finished, Failed, Ended))
    remarks = run_summary(config, events.landmarks()) if has_ended else []
    right = tuple(remark.learned for remark in remarks if remark.learned is not None)
    return Observed(right, remarks[0].sentence) if remarks else None


def _of_finished_run(
    read: Callable[[FinishedRun], Observed | None],
) -> Callable[[RunConfig, EventLog], Observed | None]:
    """Turn a function of a finished run into one of any run, which returns None before its end."""

    def of(config: RunConfig, events: EventLog) -> Observed | None:
        score = score_of(config, events)
        return None if score is None else read(FinishedRun(config, events, score))

    return of


def _every(config: RunConfig) -> bool:
    return True


def _mirrors(config: RunConfig) -> bool:
    # only an encoder answers each position from the mirrored one
    return config.task == "reverse" and config.flat()["family"] == "encoder"


READINGS: Mapping[str, Reading] = {
    one.name: one
    for one in (
        Reading("learned", "Has it learned its task: no, in part, yes", has_learned, _every),
        Reading(
            "how-many-right", "Right answers: as by guessing, more, nearly all", _of_finished_run(right_count), _every
        ),
        Reading("when-most-are-right", "90 % right: never, late, early", _of_finished_run(step_of_most_right), _every),
        Reading(
            "equal-symbols",
            "Equal symbols get equal answers: never, sometimes, always",
            _of_finished_run(answers_to_equal_symbols),
            _mirrors,
        ),
        Reading(
            "heads-at-the-mirror",
            "Heads at the mirrored position: none, some, all",
            _of_finished_run(heads_at_the_mirror),
            _mirrors,
        ),
        Reading(
            "picture-of-the-weights",
            "Weights: at the mirror, at one distance, spread",
            _of_finished_run(picture_of_the_weights),
            _mirrors,
            PICTURES,
        ),
        Reading(
            "layer-at-the-mirror",
            "Layer that reads the mirrored position: none, the first, a later one",
            _of_finished_run(layer_at_the_mirror),
            _mirrors,
        ),
    )
}
