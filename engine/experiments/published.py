"""The evidence that comes with this version: the numbers in ``engine/experiments/evidence`` of every arm, one value a seed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine.experiments.experiment import Experiment
from engine.experiments.finding import Finding, agreed
from engine.experiments.key_figure import KeyFigure, Outcome, outcome_of
from engine.experiments.report import ArmReport, Report, in_todays_words, values_of
from engine.experiments.trial import Trial

FOLDER = Path(__file__).parent / "evidence"

ByArm = dict[tuple[str, str], list[tuple[int, float]]]
"""(arm, metric) to (seed, value); a seed without a number is left out."""


@cache
def shipped_numbers(slug: str, folder: Path = FOLDER) -> tuple[ByArm, dict[str, int]]:
    """Every number of an issue's arms over all sets of seeds, and the seeds that each arm was run on."""
    numbers: ByArm = {}
    seeds: dict[str, int] = {}
    for measured in _sets(folder):
        for report in measured["reports"]:
            if report["slug"] == slug:
                for arm in report["arms"]:
                    seeds[arm["name"]] = seeds.get(arm["name"], 0) + len(report["seeds"])
                    for metric, values in _metrics(arm):
                        known = [(s, v) for s, v in zip(report["seeds"], values, strict=True) if v is not None]
                        numbers.setdefault((arm["name"], metric), []).extend(known)
    return numbers, seeds


def shipped_reports(experiment: Experiment, folder: Path = FOLDER) -> list[Report]:
    """The reports on an issue for each set of seeds, in the words of today; without those of other arms or claims."""
    found = (in_todays_words(experiment, report) for report in _reports(experiment.slug, folder))
    return [report for report in found if report is not None]


@dataclass(frozen=True)
class ShippedResult:
    """What the shipped evidence says about an issue's question, over all its seeds."""

    finding: Finding
    """About the figure's claim; undecided where the sets of seeds disagree."""
    outcome: Outcome


def shipped_result(experiment: Experiment, figure: KeyFigure) -> ShippedResult | None:
    """None where no evidence on the experiment was shipped, or none on the figure's two rows."""
    reports = shipped_reports(experiment)
    if not reports:
        return None
    finding = agreed([report.claim(figure.claim).finding for report in reports])
    seeds = [seed for report in reports for seed in report.seeds]
    trials = (trial for report in reports for trial in trials_of(report))
    outcome = outcome_of(figure, values_of(trials, seeds), finding)
    return ShippedResult(finding, outcome) if outcome is not None else None


def trials_of(report: Report) -> list[Trial]:
    """The trials behind a report, with the numbers that the report holds; their curves were not stored."""
    return [
        Trial(arm.name, seed, numbers)
        for arm in report.arms
        for place, seed in enumerate(report.seeds)
        if (numbers := _numbers_at(arm, place))
    ]


def _numbers_at(arm: ArmReport, place: int) -> dict[str, float]:
    told = {point.metric: point.values[place] for point in arm.points} | {arm.metric: arm.values[place]}
    return {metric: value for metric, value in told.items() if value is not None}


def _metrics(arm: dict[str, Any]) -> list[tuple[str, list[float | None]]]:
    by_metric = {point["metric"]: point["values"] for point in arm["points"]} | {arm["metric"]: arm["values"]}
    return list(by_metric.items())


@cache
def _reports(slug: str, folder: Path) -> tuple[Report, ...]:
    rows = [row for measured in _sets(folder) for row in measured["reports"] if row["slug"] == slug]
    return tuple(map(Report.from_json, rows))


@cache
def _sets(folder: Path) -> list[dict[str, Any]]:
    """The stored sets of seeds; an empty list where the documents were left out of an installation."""
    return [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("seeds-*.json"))]
