"""Experiments as data frames. This module imports pandas, which workers should not load: import it only where a frame is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from engine.experiments.issues.issue import Published
from engine.experiments.report import Report
from engine.experiments.trial import Trial

COLUMNS = ["issue", "arm", "role", "seed", "number", "value"]
EFFECTS = [
    "claim", "condition", "verdict", "effect", "low", "high", "p", "smallest effect", "direction", "unit", "seeds",
]  # fmt: skip


def numbers_frame(slug: str, roles: Mapping[str, str], trials: Iterable[Trial]) -> pd.DataFrame:
    """A row for each number of each trial of an experiment; ``roles`` are the arms' roles by name."""
    rows = [
        (slug, trial.arm, roles[trial.arm], trial.seed, name, value)
        for trial in trials
        for name, value in trial.numbers.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def effects_frame(report: Report) -> pd.DataFrame:
    """A row for each claim: the mean effect over paired seeds, its 95 % interval from ``low`` to ``high``, p, the verdict.

    Empty cells where there are too few seeds for a number.
    """
    rows = [
        (
            claim.claim, claim.condition, claim.weighed.verdict, claim.weighed.effect, *(claim.weighed.ci or (None, None)),
            claim.weighed.p, claim.smallest_effect, claim.direction, claim.unit, claim.weighed.seeds,
        )
        for claim in report.claims
    ]  # fmt: skip
    numbers = dict.fromkeys(("effect", "low", "high", "p"), float)
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
