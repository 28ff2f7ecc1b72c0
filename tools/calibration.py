"""Are the shares by which a finding is expected again right? They are compared with fresh seeds, eight by eight, which chose nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from engine.experiments.evidence.shipped import shipped_report
from engine.experiments.experiment import FRESH_SEEDS
from engine.experiments.finding import READERS_SEEDS, Finding
from engine.experiments.report import Report, report

EDGES = (0.0, 0.5, 0.7, 0.9, 0.99, 1.0)  # the ends of the ranges of predicted shares


@dataclass(frozen=True)
class Repetition:
    """A decided finding, with the share of eight seeds that should give it again, and the findings of two fresh sets of
    eight."""

    predicted: float
    finding: Finding
    fresh: tuple[Finding, ...]

    @property
    def n_same(self) -> int:
        return sum(one is self.finding for one in self.fresh)

    @property
    def opposite(self) -> int:
        return sum({one, self.finding} == {Finding.HOLDS, Finding.OPPOSITE} for one in self.fresh)


def repetitions(shown: Report, fresh: Report) -> Iterator[Repetition]:
    halves = [_part(fresh, seeds) for seeds in _halves()]
    for row in shown.claims:
        predicted = shown.reproducibility(row)
        theirs = [{one.claim.id: one.finding for one in half.claims}.get(row.claim.id) for half in halves]
        if predicted is not None and not row.claim.computed:
            yield Repetition(predicted, row.finding, tuple(one for one in theirs if one is not None))


def calibration(shown: Sequence[Report], measured: dict[str, Any]) -> str:
    rows = list[Repetition]()
    for each in shown:
        if (fresh := shipped_report(each.experiment, measured)) is not None:
            rows.extend(repetitions(each, fresh))
    lines = ["| predicted share | findings | predicted | fresh | opposite |\n", "|--|--:|--:|--:|--:|\n"]
    for low, high in pairwise(EDGES):
        lines.append(
            _line(f"{low:g} to {high:g}", [row for row in rows if low <= row.predicted < high + (high == 1.0)])
        )
    return "".join([*lines, _line("all", rows)])


def _line(name: str, rows: Sequence[Repetition]) -> str:
    draws = sum(len(row.fresh) for row in rows)
    if not draws:
        return f"| {name} | 0 | | | |\n"
    predicted = fmean([row.predicted for row in rows for _ in row.fresh])
    observed, opposite = sum(row.n_same for row in rows) / draws, sum(row.opposite for row in rows)
    return f"| {name} | {len(rows)} | {predicted:.1%} | {observed:.1%} of {draws} | {opposite} |\n"


def _halves() -> list[Sequence[int]]:
    return [FRESH_SEEDS[start : start + READERS_SEEDS] for start in range(0, len(FRESH_SEEDS), READERS_SEEDS)]


def _part(whole: Report, seeds: Sequence[int]) -> Report:
    trials = [trial for trial in whole.trials if trial.seed in seeds]
    return report(whole.experiment, trials, list(seeds))
