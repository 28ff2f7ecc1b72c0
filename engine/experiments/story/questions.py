"""The questions of the story, in ``questions.toml``, each with the function that reads its right answer from a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.config.run_config import RunConfig
from engine.experiments.story.readings import (
    EqualSymbols,
    Head,
    Score,
    equal_symbols,
    heads_of,
    last_look,
    score_of,
    step_reaching,
)
from engine.foundation.formatting import counted, percent
from engine.foundation.tables import Text, read_tables
from engine.runs.log import EventLog
from engine.runs.summary import LEARNED, clearly_above

ALWAYS, NOT_ALWAYS = "always", "not always"
CHANCE, SOME, NEARLY_ALL = "chance", "some", "nearly all"
NONE, PART, EVERY = "none", "part", "every"
NO_LAYER, FIRST, LATER = "none", "first", "later"
MIRRORED, ONE_DISTANCE, SPREAD = "mirrored", "one distance", "spread"
EARLY, LATE, NEVER = "early", "late", "never"
MOST = 0.9
"""The share of right answers whose first step is asked for."""


@dataclass(frozen=True)
class Observed:
    """The numbers of a run that answer a question."""

    answer: str
    """The name of the right answer."""
    sentence: str
    """The numbers behind it, in Markdown."""


@dataclass(frozen=True)
class Question:
    """A question asked before a run. Its right answer is read from the run, never written beforehand."""

    slug: str
    text: Text
    answers: Mapping[str, str]
    """The words of each answer, by its name; exactly one of them is right, whatever the run does."""
    lessons: Mapping[str, str]
    """What a run with that answer teaches, in one sentence without its numbers."""

    def observe(self, config: RunConfig, events: EventLog) -> Observed | None:
        """The right answer, read from a run's events; None while the run has not finished."""
        return READINGS[self.slug](config, events)

    @property
    def pictures(self) -> Mapping[str, np.ndarray]:
        """Where answers are pictures: weights [query, key] by the name of each answer, drawn up and not measured."""
        return PICTURES if self.slug == "picture-of-the-weights" else {}


def _score_in_words(score: Score) -> str:
    right, guessing = percent(score.value), percent(score.chance)
    return f"On {score.sequences} new sequences {right} of the answers are right; guessing gives {guessing}."


def how_many_right(config: RunConfig, events: EventLog) -> Observed | None:
    score = score_of(config, events)
    if score is None:
        return None
    above = clearly_above(score.value, score.chance, score.sequences)
    answer = NEARLY_ALL if score.value >= LEARNED else SOME if above else CHANCE
    return Observed(answer, _score_in_words(score))


def picture_of_the_weights(config: RunConfig, events: EventLog) -> Observed | None:
    """The picture that the clearest head comes nearest to."""
    score, heads = score_of(config, events), _heads_in(events)
    if score is None or not heads:
        return None
    answer = MIRRORED if any(head.at_mirror for head in heads) else SPREAD
    if answer == SPREAD and any(head.at_one_distance for head in heads):
        answer = ONE_DISTANCE
    most = max(head.at_distance for head in heads)
    return Observed(
        answer,
        f"{_clearest_in_words(heads)} The commonest distance is used at **{most} of {heads[0].positions}** positions. "
        f"{percent(score.value)} of the answers are right.",
    )


def when_most_are_right(config: RunConfig, events: EventLog) -> Observed | None:
    score = score_of(config, events)
    if score is None:
        return None
    step = step_reaching(config, events, MOST)
    if step is None:
        return Observed(NEVER, f"At no step were {percent(MOST)} right. {_score_in_words(score)}")
    answer = EARLY if 2 * step <= config.steps else LATE
    return Observed(
        answer, f"{percent(MOST)} were right at step **{step} of {config.steps}**. {_score_in_words(score)}"
    )


def answers_to_equal_symbols(config: RunConfig, events: EventLog) -> Observed | None:
    score, look = score_of(config, events), last_look(events)
    if score is None or look is None:
        return None
    found = equal_symbols(look.samples)
    return Observed(ALWAYS if found.same == found.pairs else NOT_ALWAYS, _pairs_in_words(found, score))


def _pairs_in_words(found: EqualSymbols, score: Score) -> str:
    if not found.pairs:
        return f"No two positions in the figure hold the same symbol; try another seed. {_score_in_words(score)}"
    pairs = f"The figure has {counted(found.pairs, 'pair')} of positions with the same symbol (dotted)"
    return f"{pairs}: **{found.same} of {found.pairs}** got the same answer. {_score_in_words(score)}"


def heads_at_the_mirror(config: RunConfig, events: EventLog) -> Observed | None:
    score, heads = score_of(config, events), _heads_in(events)
    if score is None or not heads:
        return None
    reading = [head for head in heads if head.at_mirror]
    answer = EVERY if len(reading) == len(heads) else PART if reading else NONE
    counts = f"**{len(reading)} of {len(heads)}** heads read the mirrored position. " if len(heads) > 1 else ""
    return Observed(answer, f"{counts}{_clearest_in_words(heads)} {percent(score.value)} of the answers are right.")


def layer_at_the_mirror(config: RunConfig, events: EventLog) -> Observed | None:
    score, heads = score_of(config, events), _heads_in(events)
    if score is None or not heads:
        return None
    layers = [head.layer for head in heads if head.at_mirror]
    answer = NO_LAYER if not layers else FIRST if min(layers) == 0 else LATER
    best = [
        _clearest([head for head in heads if head.layer == layer]) for layer in sorted({head.layer for head in heads})
    ]
    counts = "; ".join(f"layer {head.layer + 1} at **{head.hits} of {head.positions}** positions" for head in best)
    return Observed(
        answer,
        f"The largest weight lies on the mirrored position in {counts}. {percent(score.value)} of the answers are right.",
    )


def _heads_in(events: EventLog) -> list[Head]:
    """What the heads of the figure read at the end; empty where there is no attention to look at."""
    look = last_look(events)
    return [] if look is None or "self" not in look.patterns else heads_of(look.patterns["self"])


def _clearest(heads: Sequence[Head]) -> Head:
    return max(heads, key=lambda head: (head.hits, head.weight))


def _clearest_in_words(heads: Sequence[Head]) -> str:
    best = _clearest(heads)
    which = "The head" if len(heads) == 1 else f"Head {best.head + 1} of layer {best.layer + 1}"
    return (
        f"{which} has its largest weight on the mirrored position at **{best.hits} of {best.positions}** positions: "
        f"{percent(best.weight)} of the weight on average."
    )


READINGS: dict[str, Callable[[RunConfig, EventLog], Observed | None]] = {
    "equal-symbols": answers_to_equal_symbols,
    "how-many-right": how_many_right,
    "heads-at-the-mirror": heads_at_the_mirror,
    "picture-of-the-weights": picture_of_the_weights,
    "layer-at-the-mirror": layer_at_the_mirror,
    "when-most-are-right": when_most_are_right,
}
POSITIONS = 8
PICTURES = {
    MIRRORED: np.eye(POSITIONS)[::-1],
    ONE_DISTANCE: np.eye(POSITIONS, k=2),
    SPREAD: np.random.default_rng(1).dirichlet(np.ones(POSITIONS), POSITIONS),
}
QUESTIONS = read_tables(Path(__file__).with_suffix(".toml"), Question)
