"""Long runs: arms of a key figure trained for ten times their steps, stored. They show whether an accuracy has a limit or only rises more
slowly, and whether a difference in other numbers lasts.

Both rules were fixed before the first run that they judge (docs/fair.md, "A limit, or a matter of speed?").
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from engine.config.run_config import RunConfig
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import stored_rows
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.finding import LEARNED_SEEDS
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import Row

FILE = "long.json"
TIMES = 10  # steps of a long run, as a multiple of its arm's
MARKS_PER_DECADE = 12  # points at which a long run is measured, evenly on a logarithmic axis of steps
RATES = (1.0, 10**-0.5, 0.1)  # learning rates that are tried, as multiples of the arm's own best rate
PILOT_SEEDS = (900, 901)  # on which the rate of a long run is chosen
LAST_MARKS = 3  # one of the last so many marks must be at the level, else a run has lost it again
# a run that is at this share at so many marks in a row ends there: its number counts for the marks that are left
SOLVED_LEVEL, SOLVED_MARKS = 0.99, 3
FLAT = 0.02  # a curve is flat if its mean rises by less over the second half of the steps


class Kind(StrEnum):
    SPEED = "a matter of speed"
    LIMIT = "a limit at this size"
    OPEN = "open"


@dataclass(frozen=True)
class LongRuns:
    arm: str
    metric: str
    rate: float
    steps: tuple[int, ...]
    """The marks, [mark]."""
    values: np.ndarray
    """The number, [seed, mark]."""

    @property
    def seeds(self) -> int:
        return len(self.values)

    def steps_to(self, level: float) -> np.ndarray:
        """The step at which each seed reaches the level, [seed], on a straight line between two marks; NaN if it never
        does, or has lost it again at the last marks."""
        log_steps = np.log(self.steps)

        def reached(curve: np.ndarray) -> float:
            above = np.flatnonzero(curve >= level)
            if not len(above) or curve[-LAST_MARKS:].max() < level:
                return math.nan
            at = above[0]
            if at == 0:
                return float(self.steps[0])
            share = (level - curve[at - 1]) / (curve[at] - curve[at - 1])
            return float(np.exp(log_steps[at - 1] + share * (log_steps[at] - log_steps[at - 1])))

        return np.array([reached(curve) for curve in self.values])

    def never(self, level: float) -> int:
        """The number of seeds that do not reach the level."""
        return int(np.isnan(self.steps_to(level)).sum())

    @property
    def late_rise(self) -> float:
        mean = self.values.mean(axis=0)
        return float(mean[-1] - np.interp(math.log(self.steps[-1] / 2), np.log(self.steps), mean))


def marks(steps: int) -> tuple[int, ...]:
    """The steps at which a long run of an arm with so many steps is measured: from a tenth of them to ten times as
    many."""
    count = round(MARKS_PER_DECADE * math.log10(TIMES * 10))
    first = max(1.0, steps / 10)
    last = steps * TIMES
    return tuple(sorted({round(first * (last / first) ** (i / count)) for i in range(count + 1)}))


def long_config(experiment: Experiment, arm: Arm, seed: int, rate: float) -> RunConfig:
    config = experiment.config(arm, seed)
    # the rate stays after the warm-up: under a schedule that falls to zero every curve would end flat
    return config.replace(steps=config.steps * TIMES, schedule="constant", learning_rate=rate)


def kind_of(worse: LongRuns, level: float) -> Kind:
    """A matter of speed if three in four seeds of the worse arm of a contrast reach the level in its long runs; a limit
    at this size if at most one in four does and the mean is flat; else open."""
    reach = worse.seeds - worse.never(level)
    if reach >= LEARNED_SEEDS * worse.seeds:
        return Kind.SPEED
    if reach <= (1 - LEARNED_SEEDS) * worse.seeds and worse.late_rise < FLAT:
        return Kind.LIMIT
    return Kind.OPEN


def log_ratio(worse: LongRuns, better: LongRuns, level: float) -> np.ndarray:
    """The ratio of the worse arm's steps to the level to the better one's, as a natural logarithm by paired seed,
    [seed]. A seed that never reaches the level counts with the last step."""
    steps = [np.where(np.isnan(each := runs.steps_to(level)), runs.steps[-1], each) for runs in (worse, better)]
    ratio: np.ndarray = np.log(steps[0] / steps[1])
    return ratio


def long_contrasts(issue: Issue) -> dict[str, tuple[Row, Row]]:
    """By claim, the rows before and after that are compared by their long runs, the key figure's first."""
    figure = issue.key_figure
    contrasts = {figure.claim: (figure.before, figure.after)}
    for name in figure.long_claims:
        after, before = (Row(arm, arm, metric) for arm, metric in issue.claim(name).effect_numbers)
        contrasts[name] = (before, after)
    return contrasts


def has_level(metric: str) -> bool:
    """True for an accuracy, which reaches a level with enough steps; other numbers have none that a model should reach."""
    return "accuracy" in metric


def numbers_of_long_runs(issue: Issue) -> dict[str, list[str]]:
    """By arm, the numbers by which its long runs are measured."""
    numbers: dict[str, list[str]] = {}
    for row in (*issue.key_figure.rows, *chain.from_iterable(long_contrasts(issue).values())):
        if row.metric not in numbers.setdefault(row.arm, []):
            numbers[row.arm].append(row.metric)
    return numbers


def read_long_runs(experiment: Experiment, folder: Path = FOLDER) -> dict[tuple[str, str], LongRuns]:
    """By arm and number, of the arms whose settings have not changed since."""
    stored = rows(folder).get(experiment.slug, {})
    return {
        (arm.name, metric): LongRuns(arm.name, metric, row["rate"], tuple(row["steps"]), np.array(values))
        for arm in experiment.arms
        if (row := stored.get(arm.name)) and row["fingerprint"] == experiment.fingerprint(arm)
        for metric, values in row["values"].items()
    }


def is_stored(experiment: Experiment, arm: str, metrics: Sequence[str], folder: Path = FOLDER) -> bool:
    return {(arm, metric) for metric in metrics} <= read_long_runs(experiment, folder).keys()


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    """By issue and arm."""
    return stored_rows(folder / FILE)


def padded(curve: Sequence[float], count: int) -> list[float]:
    return [*curve, *[curve[-1]] * (count - len(curve))]
