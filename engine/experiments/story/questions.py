"""The questions of the story, in ``questions.toml``, each with the function that reads its right answer from a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from engine.config.run_config import RunConfig
from engine.experiments.story.readings import Head, Score, equal_symbols, heads_of, score_of, step_reaching
from engine.foundation.formatting import counted, percent
from engine.foundation.tables import Text, read_tables
from engine.runs.events import Snapshot
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
        """The right answer, read from a run's events; None while the run has not finished, or where there is nothing to read."""
        score = score_of(config, events)
        return None if score is None else READINGS[self.slug](FinishedRun(config, events, score))

    @property
    def pictures(self) -> Mapping[str, np.ndarray]:
        """Where answers are pictures: weights [query, key] by the name of each answer, drawn up and not measured."""
        return PICTURES if self.slug == "picture-of-the-weights" else {}


class FinishedRun(NamedTuple):
    """A run that has finished."""

    config: RunConfig
    events: EventLog
    score: Score

    @property
    def heads(self) -> list[Head]:
        """The heads of the figure at the end; empty where there is no attention to look at."""
        look = self.events.last(Snapshot)
        return [] if look is None or "self" not in look.patterns else heads_of(look.patterns["self"])

    @property
    def in_words(self) -> str:
        right, guessing = percent(self.score.value), percent(self.score.chance)
        return f"On {self.score.sequences} new sequences {right} of the answers are right; guessing gives {guessing}."

    @property
    def in_short(self) -> str:
        return f"{percent(self.score.value)} of the answers are right."


def how_many_right(run: FinishedRun) -> Observed:
    above = clearly_above(run.score.value, run.score.chance, run.score.sequences)
    answer = NEARLY_ALL if run.score.value >= LEARNED else SOME if above else CHANCE
    return Observed(answer, run.in_words)


def picture_of_the_weights(run: FinishedRun) -> Observed | None:
    """The picture that the clearest head comes nearest to."""
    if not (heads := run.heads):
        return None
    answer = MIRRORED if any(head.at_mirror for head in heads) else SPREAD
    if answer == SPREAD and any(head.at_one_distance for head in heads):
        answer = ONE_DISTANCE
    most = max(head.at_distance for head in heads)
    commonest = f"The commonest distance is used at **{most} of {heads[0].positions}** positions."
    return Observed(answer, f"{_clearest_in_words(heads)} {commonest} {run.in_short}")


def when_most_are_right(run: FinishedRun) -> Observed:
    step, steps = step_reaching(run.config, run.events, MOST), run.config.steps
    if step is None:
        return Observed(NEVER, f"At no step were {percent(MOST)} right. {run.in_words}")
    answer = EARLY if 2 * step <= steps else LATE
    return Observed(answer, f"{percent(MOST)} were right at step **{step:,} of {steps:,}**. {run.in_words}")


def answers_to_equal_symbols(run: FinishedRun) -> Observed | None:
    look = run.events.last(Snapshot)
    if look is None:
        return None
    pairs, same = equal_symbols(look.samples)
    told = "No two positions in the figure hold the same symbol; try another seed."
    if pairs:
        told = f"The figure has {counted(pairs, 'pair')} of positions with the same symbol (dotted)"
        told += f": **{same} of {pairs}** got the same answer."
    return Observed(ALWAYS if same == pairs else NOT_ALWAYS, f"{told} {run.in_words}")


def heads_at_the_mirror(run: FinishedRun) -> Observed | None:
    if not (heads := run.heads):
        return None
    reading = sum(head.at_mirror for head in heads)
    answer = EVERY if reading == len(heads) else PART if reading else NONE
    counts = f"**{reading} of {len(heads)}** heads read the mirrored position. " if len(heads) > 1 else ""
    return Observed(answer, f"{counts}{_clearest_in_words(heads)} {run.in_short}")


def layer_at_the_mirror(run: FinishedRun) -> Observed | None:
    if not (heads := run.heads):
        return None
    layers = [head.layer for head in heads if head.at_mirror]
    answer = NO_LAYER if not layers else FIRST if min(layers) == 0 else LATER
    best = [_clearest(list(of_layer)) for _, of_layer in groupby(heads, key=lambda head: head.layer)]
    counts = "; ".join(f"layer {head.layer + 1} at **{head.hits} of {head.positions}** positions" for head in best)
    return Observed(answer, f"The largest weight lies on the mirrored position in {counts}. {run.in_short}")


def _clearest(heads: Sequence[Head]) -> Head:
    return max(heads, key=lambda head: (head.hits, head.weight))


def _clearest_in_words(heads: Sequence[Head]) -> str:
    best = _clearest(heads)
    which = "The head" if len(heads) == 1 else f"Head {best.head + 1} of layer {best.layer + 1}"
    return (
        f"{which} has its largest weight on the mirrored position at **{best.hits} of {best.positions}** positions: "
        f"{percent(best.weight)} of the weight on average."
    )


READINGS: dict[str, Callable[[FinishedRun], Observed | None]] = {
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
