"""The finding on a contrast by its stored long runs: for accuracies a limit, or only slower; for other numbers if the
difference lasts."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.shipped import shown_report
from engine.experiments.experiment import Claim
from engine.experiments.finding import Finding
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure, Row, paired
from engine.experiments.long_runs import (
    FLAT,
    Kind,
    LongRuns,
    has_level,
    kind_of,
    log_ratio,
    long_contrasts,
    read_long_runs,
)
from engine.experiments.report import Report
from engine.experiments.statistics import Weighed, weigh
from engine.foundation.formatting import counted, listed

SMALLEST_RATIO = math.log(1.5)  # the smallest ratio of steps that counts, as a natural logarithm


@dataclass(frozen=True)
class Side:
    row: Row
    n_reached: int
    """The number of seeds that reach the level."""
    median: float | None
    """The median of the steps to the level; None if half of the seeds never reach it."""

    def to_json(self, seeds: int) -> dict[str, Any]:
        row = self.row
        return {
            "row": row.label,
            "arm": row.arm,
            "metric": row.metric,
            "never": seeds - self.n_reached,
            "median_steps": self.median,
        }


@dataclass(frozen=True)
class SpeedFinding:
    kind: Kind
    level: float
    seeds: int
    worse: Side
    """The row that is less accurate after the reader's steps."""
    better: Side
    ratio: Weighed
    """The ratio of the worse row's steps to the level to the better one's, as a natural logarithm by paired seed."""
    flat: bool
    """True if the mean of the worse row no longer rises at the end of its long runs."""
    one_rate: bool = False
    """True if the learning rate is the condition of the worse row, so that no other was tried."""

    @property
    def sentence(self) -> str:
        reached, name = self.worse.n_reached, f"“{self.worse.row.label}”"
        seeds = f"{reached} of {self.seeds} seeds of {name} reach" if reached else f"no seed of {name} reaches"
        there = f"{seeds} {self.level:g}"
        curve = "the curve is flat" if self.flat else "the curve still rises"
        match self.kind:
            case Kind.SPEED:
                return f"A matter of speed: {there}, {self._steps()}{self._better()}."
            case Kind.LIMIT:
                only = "only " if reached else ""
                limit = "A limit at this size and rate" if self.one_rate else "A limit at this size"
                return f"{limit}: with ten times the steps {only}{there}, and {curve}{self._better()}."
        return f"Limit or speed stays open: with ten times the steps {there}, and {curve}{self._better()}."

    def _steps(self) -> str:
        assert self.ratio.effect is not None
        times = f"{math.exp(self.ratio.effect):.2g}"
        match self.ratio.finding:
            case Finding.HOLDS:
                # a seed that never reaches the level took more than the steps for which it counts
                censored = self.worse.n_reached < self.seeds
                about = "about " if self.better.n_reached < self.seeds else "at least " if censored else ""
                return f"after {about}{times} times as many steps as “{self.better.row.label}”"
            case Finding.OPPOSITE:
                return f"even after fewer steps than “{self.better.row.label}” ({times} times as many)"
            case Finding.SMALL:
                return f"after about as many steps as “{self.better.row.label}”"
        return "and the seeds do not decide which of the two takes more steps"

    def _better(self) -> str:
        reached = self.better.n_reached
        how_many = f"only {reached} do" if reached else "no seed does"
        return "" if reached == self.seeds else f"; of “{self.better.row.label}” {how_many}"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "level": self.level, "seeds": self.seeds, "worse": self.worse.to_json(self.seeds),
            "better": self.better.to_json(self.seeds), "log_ratio": self.ratio.to_json(), "sentence": self.sentence,
        }  # fmt: skip


@dataclass(frozen=True)
class LastingFinding:
    """A claim that holds, on two rows that show no accuracy, weighed once more at the last mark of their long runs."""

    before: tuple[Row, float]
    """The row and its mean over the seeds at the last mark."""
    after: tuple[Row, float]
    weighed: Weighed
    figure: KeyFigure

    @property
    def sentence(self) -> str:
        # the sentence on the reader's steps, above it, has named both rows
        old, new = (self.figure.format_value(mean) for _, mean in (self.before, self.after))
        unit = f" {self.figure.unit}" if self.figure.unit else ""
        return f"With ten times the steps {LASTING[self.weighed.finding]}: {old} and {new}{unit}."

    def to_json(self) -> dict[str, Any]:
        rows = {"before": self.before, "after": self.after}
        ends = {
            name: {"row": row.label, "arm": row.arm, "metric": row.metric, "mean": mean}
            for name, (row, mean) in rows.items()
        }
        return {"seeds": self.weighed.seeds, **ends, "difference": self.weighed.to_json(), "sentence": self.sentence}


LASTING = {
    Finding.HOLDS: "the difference is still there",
    Finding.OPPOSITE: "the difference has the opposite sign",
    Finding.SMALL: "the difference is gone",
    Finding.UNDECIDED: "the seeds do not decide whether a difference remains",
}


LongFinding: TypeAlias = SpeedFinding | LastingFinding


def long_findings(issue: Issue, report: Report, folder: Path = FOLDER) -> dict[str, LongFinding]:
    """By claim, the finding on its contrast, that of the key figure first, without contrasts that have no stored long
    runs. ``report``: the report on stored seeds."""
    runs = read_long_runs(issue, folder)
    findings: dict[str, LongFinding] = {}
    for claim, contrast in long_contrasts(issue).items():
        before, after = paired(report.values, *contrast)
        if not len(before):
            continue
        if not has_level(contrast[0].metric):
            if report.claim(claim).finding is not Finding.HOLDS:
                continue
            lasting = lasting_finding_of(issue.claim(claim), contrast, runs, issue.key_figure)
            if lasting is not None:
                findings[claim] = lasting
            continue
        means = float(before.mean()), float(after.mean())
        speed = speed_finding_of(contrast, runs, means, issue.key_figure.level)
        if speed is not None:
            findings[claim] = replace(speed, one_rate=not issue.arm(speed.worse.row.arm).tuned)
    return findings


def shipped_long_findings(issue: Issue, folder: Path = FOLDER) -> dict[str, LongFinding]:
    report = shown_report(issue, folder)
    return {} if report is None else long_findings(issue, report, folder)


def shipped_long_finding(issue: Issue, folder: Path = FOLDER) -> LongFinding | None:
    return shipped_long_findings(issue, folder).get(issue.key_figure.claim)


def lasting_finding_of(
    claim: Claim, contrast: tuple[Row, Row], runs: Mapping[tuple[str, str], LongRuns], figure: KeyFigure
) -> LastingFinding | None:
    """The finding on two rows, before and after; None if one of them has no long runs."""
    if not {(row.arm, row.metric) for row in contrast} | set(claim.effect_numbers) <= runs.keys():
        return None

    def at_end(arm: str, metric: str) -> np.ndarray:
        return runs[arm, metric].values[:, -1]

    before, after = ((row, float(at_end(row.arm, row.metric).mean())) for row in contrast)
    weighed = weigh(claim.effect(at_end), claim.smallest_effect, claim.direction)
    return LastingFinding(before, after, weighed, figure)


def shares(findings: Iterable[LongFinding]) -> str:
    """The number of contrasts of each kind: "Of 12 contrasts 7 are a matter of speed, 3 are a limit at this size and 2
    are open.", and of the differences that last; empty for none."""
    found = list(findings)
    kinds = Counter(one.kind for one in found if isinstance(one, SpeedFinding))
    each = [f"{kinds[kind]} {'is' if kinds[kind] == 1 else 'are'} {kind}" for kind in Kind]
    speeds = f"Of {counted(kinds.total(), 'contrast')} {listed(each)}." if kinds else ""
    last = [one.weighed.finding is Finding.HOLDS for one in found if isinstance(one, LastingFinding)]
    contrasts = f"Of {counted(len(last), 'contrast')} in other numbers than accuracy,"
    stay = f"{contrasts} {sum(last)} {'remains' if sum(last) == 1 else 'remain'} with ten times the steps."
    return " ".join(filter(None, (speeds, stay if last else "")))


def speed_finding_of(
    contrast: tuple[Row, Row], runs: Mapping[tuple[str, str], LongRuns], means: tuple[float, float], level: float
) -> SpeedFinding | None:
    """The finding on two rows, before and after; None if one of them has no long runs. ``means``: their numbers after
    the reader's steps."""
    rows = contrast[::-1] if means[1] <= means[0] else contrast
    worse, better = (runs.get((row.arm, row.metric)) for row in rows)
    if worse is None or better is None:
        return None
    ratio = weigh(log_ratio(worse, better, level), SMALLEST_RATIO)
    slow, fast = _side(rows[0], worse, level), _side(rows[1], better, level)
    kind, flat = kind_of(worse, level), worse.late_rise < FLAT
    return SpeedFinding(kind, level, worse.seeds, slow, fast, ratio, flat)


def _side(row: Row, runs: LongRuns, level: float) -> Side:
    steps = runs.steps_to(level)
    median = float(np.median(np.where(np.isnan(steps), math.inf, steps)))
    return Side(row, runs.seeds - runs.never(level), median if math.isfinite(median) else None)
