"""Experiments as data frames. This module imports pandas, which workers should not load: import it only where a frame is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from engine.experiments.experiment import Experiment
from engine.experiments.finding import in_words
from engine.experiments.issues.issue import Published
from engine.experiments.report import Report, sides_of, values_of
from engine.experiments.trial import Trial

COLUMNS = ["issue", "arm", "role", "seed", "number", "value"]
EFFECTS = [
    "claim", "condition", "finding", "before", "after", "effect", "low", "high", "p", "smallest effect", "direction",
    "unit", "seeds",
]  # fmt: skip


def numbers_frame(slug: str, roles: Mapping[str, str], trials: Iterable[Trial]) -> pd.DataFrame:
    """A row for each number of each trial of an experiment; ``roles`` are the arms' roles by name."""
    rows = [
        (slug, trial.arm, roles[trial.arm], trial.seed, name, value)
        for trial in trials
        for name, value in trial.numbers.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def effects_frame(experiment: Experiment, report: Report, trials: Sequence[Trial]) -> pd.DataFrame:
    """A row for each claim: the finding, the mean effect over paired seeds with the two numbers that it is the difference of, its
    95 % interval from ``low`` to ``high``, and p.

    Empty cells where there are too few seeds for a number, where an effect is no difference of two numbers, and for interval
    and p where every seed has the same effect.
    """
    values = values_of(trials, report.seeds)
    rows = [
        (
            found.claim, found.condition, in_words(found.finding, row.seeds), *(sides_of(claim, values) or (None, None)), row.effect,
            *((row.ci or (None, None)) if not row.exact else (None, None)), row.p if not row.exact else None,
            found.smallest_effect, found.direction, found.unit, row.seeds,
        )
        for claim, found in zip(experiment.claims_of(report.extended), report.claims, strict=True)
        for row in [found.weighed]
    ]  # fmt: skip
    numbers = dict.fromkeys(("before", "after", "effect", "low", "high", "p"), float)
    return pd.DataFrame(rows, columns=EFFECTS).astype(numbers)


def published_frame(published: Published, trials: Sequence[Trial]) -> pd.DataFrame:
    """Published numbers by row, and after each column that has one here our mean over the trials' seeds."""
    frame = pd.DataFrame(published.rows, index=published.columns, dtype=float).T
    for place, column in reversed(list(enumerate(published.columns))):
        named = {name: cells[place] for name, cells in published.ours.items() if place < len(cells) and cells[place][0]}
        if named:
            ours = {name: _mean(trials, *arm_and_metric) for name, arm_and_metric in named.items()}
            frame.insert(place + 1, f"{column}, ours", pd.Series(ours, index=frame.index, dtype=float))
    return frame


def _mean(trials: Sequence[Trial], arm: str, metric: str) -> float:
    values = [trial.numbers[metric] for trial in trials if trial.arm == arm and metric in trial.numbers]
    return sum(values) / len(values) if values else float("nan")
