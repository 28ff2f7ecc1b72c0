"""Experiments as data frames. This module imports pandas, which workers should not load: import it only to make a frame."""

from collections.abc import Sequence

import pandas as pd

from engine.experiments.benchmark.table import Column
from engine.experiments.issues.issue import Published
from engine.experiments.report import Report, sides_of
from engine.experiments.statistics import FEWEST_FOR_HOLM
from engine.experiments.trial import Trial

COLUMNS = ["issue", "arm", "role", "seed", "number", "value"]
EFFECTS = [
    "claim", "condition", "finding", "before", "after", "effect", "low", "high", "p", "p (Holm)", "smallest effect",
    "found", "again", "direction", "unit", "seeds",
]  # fmt: skip
EVIDENCE_NUMBERS = ["number", "low", "high", "behind the best"]
EVIDENCE = ["encoding", "quality", "task", "length / trained", "state", *EVIDENCE_NUMBERS, "seeds"]


def numbers_frame(report: Report) -> pd.DataFrame:
    roles = {arm.name: arm.role for arm in report.arms}
    rows = [
        (report.experiment.slug, trial.arm, roles[trial.arm], trial.seed, name, value)
        for trial in report.trials
        for name, value in trial.numbers.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def effects_frame(report: Report) -> pd.DataFrame:
    """A row for each claim: the finding, the mean effect over paired seeds with the two numbers of which it is the difference, its
    95 % interval from ``low`` to ``high``, p, as ``found`` the size of an effect that so many seeds find with a probability of
    about .8 (:attr:`engine.experiments.statistics.Weighed.detectable`), and with many seeds also p corrected for the number of
    claims (Holm) and the share of draws of eight of them that give the finding ``again``.

    Cells are empty if there are too few seeds for a number, if an effect is no difference of two numbers, and for interval and p if
    every seed has the same effect.
    """
    rows = [
        (
            claim.sentence, claim.condition, row.words, *(sides_of(claim, report.values) or (None, None)), row.effect,
            *((row.ci or (None, None)) if not row.exact else (None, None)), row.p, one.p_holm,
            claim.smallest_effect, row.detectable, report.reproducibility(one), claim.direction, claim.unit, row.seeds,
        )
        for one, claim, row in ((one, one.claim, one.weighed) for one in report.claims)
    ]  # fmt: skip
    numbers = dict.fromkeys(("before", "after", "effect", "low", "high", "p", "p (Holm)", "found", "again"), float)
    frame = pd.DataFrame(rows, columns=EFFECTS).astype(numbers)
    return frame if len(report.seeds) >= FEWEST_FOR_HOLM else frame.drop(columns=["p (Holm)", "again"])


def evidence_frame(columns: Sequence[Column]) -> pd.DataFrame:
    """A row for each encoding in each column: the mean over the seeds with its 95 % interval from ``low`` to ``high``,
    and the distance behind the best; empty cells for numbers that the evidence lacks."""
    rows = [
        (
            encoding, one.criterion.slug, one.criterion.task, one.times, cell["state"], cell["number"], *(cell["ci"] or (None, None)),
            cell["behind"], cell["seeds"],
        )
        for one in columns
        for encoding, cell in one.cells.items()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=EVIDENCE).astype(dict.fromkeys(EVIDENCE_NUMBERS, "float"))


def published_frame(published: Published, trials: Sequence[Trial]) -> pd.DataFrame:
    """Published numbers by row; after each column with a counterpart here, our mean over the trials' seeds."""
    frame = pd.DataFrame(published.rows, index=published.columns, dtype=float).T
    for index, column in reversed(list(enumerate(published.columns))):
        arms = {name: cells[index] for name, cells in published.ours.items() if index < len(cells) and cells[index][0]}
        if arms:
            ours = {name: _mean(trials, *arm_and_metric) for name, arm_and_metric in arms.items()}
            frame.insert(index + 1, f"{column}, ours", pd.Series(ours, index=frame.index, dtype=float))
    return frame


def _mean(trials: Sequence[Trial], arm: str, metric: str) -> float:
    values = [trial.numbers[metric] for trial in trials if trial.arm == arm and metric in trial.numbers]
    return sum(values) / len(values) if values else float("nan")
