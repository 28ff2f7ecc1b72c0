"""The evidence that comes with this version, in the ``seeds-*.json`` beside this module: for each set of seeds the numbers of every arm.

Reports are computed when they are read: a claim's words and its statistics are those of today.
"""

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.experiments.evidence import FOLDER
from engine.experiments.experiment import Change, Claim, Experiment
from engine.experiments.finding import Finding, pooled_finding
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import KeyFigure, Outcome, outcome_of
from engine.experiments.report import BySeed, ClaimReport, Report, known, report, sides_of
from engine.experiments.trial import Trial
from engine.foundation.json_lines import json_lines


@cache
def sets_of_seeds(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The stored sets by their first seed; an empty list where the documents were left out of an installation."""
    sets = [json.loads(file.read_text("utf-8")) for file in folder.glob("seeds-*.json")]
    return sorted(sets, key=lambda measured: int(measured["seeds"][0]))


def shipped_reports(experiment: Experiment, folder: Path = FOLDER) -> list[Report]:
    """The reports on an experiment for each set of seeds in which it was run."""
    sets = (shipped_report(experiment, measured) for measured in sets_of_seeds(folder))
    return [found for found in sets if found is not None]


def shipped_report(experiment: Experiment, measured: dict[str, Any]) -> Report | None:
    """The report on an experiment in a set of seeds; None where it was not run there."""
    row = measured["issues"].get(experiment.slug)
    if row is None:
        return None
    facts = {name: row[name] for name in ("extended", "seconds", "reasons")}
    return report(experiment, _trials(row["arms"], measured["seeds"]), measured["seeds"], **facts)


def pooled_report(experiment: Experiment, folder: Path = FOLDER) -> Report | None:
    """The report on an experiment over all sets of seeds together; None where it was run in none."""
    reports = shipped_reports(experiment, folder)
    if not reports:
        return None
    return report(
        experiment,
        [trial for found in reports for trial in found.trials],
        [seed for found in reports for seed in found.seeds],
        extended=any(found.extended for found in reports),
    )


def shipped_trials(slug: str) -> list[Trial]:
    """The trials on an issue over all sets of seeds."""
    sets = [(measured["issues"].get(slug, {}).get("arms", {}), measured["seeds"]) for measured in sets_of_seeds()]
    return [trial for arms, seeds in sets for trial in _trials(arms, seeds)]


def _trials(arms: dict[str, dict[str, BySeed]], seeds: Sequence[int]) -> list[Trial]:
    """The trials that have a number; their curves were not stored."""
    return [
        Trial(arm, seed, numbers)
        for arm, by_metric in arms.items()
        for place, seed in enumerate(seeds)
        if (numbers := {name: value for name, values in by_metric.items() if (value := values[place]) is not None})
    ]


def write_set(reports: Sequence[Report], folder: Path) -> None:
    """Write the numbers of reports on the same seeds to ``seeds-<first>.json``, in the place of earlier ones on the same issues. Raises
    ValueError where the file holds another number of seeds."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = reports[0].seeds
    file = folder / f"seeds-{seeds[0]}.json"
    before: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {"seeds": seeds, "issues": {}}
    if before["seeds"] != seeds:
        raise ValueError(f"{file.name} holds {len(before['seeds'])} seeds, and these reports {len(seeds)}.")
    issues = before["issues"]
    issues |= {found.experiment.slug: _row_of(found) for found in reports}
    row = {
        "seeds": seeds,
        "machine": f"{os.cpu_count()} CPU cores, {platform.machine()}",
        "issues": {slug: issues[slug] for slug in dict.fromkeys([*ISSUES, *issues]) if slug in issues},
    }
    file.write_text(json_lines(row, 4) + "\n", encoding="utf-8")  # a line for each arm
    sets_of_seeds.cache_clear()


def _row_of(found: Report) -> dict[str, Any]:
    """The numbers by which the arms are told, and those for which a claim asks."""
    asked = {arm.name: dict.fromkeys((arm.metric, *(metric for _, metric in arm.points))) for arm in found.arms}
    for row in found.claims:
        for arm, metric in row.claim.numbers:
            asked[arm][metric] = None
    arms = {arm: {name: known(found.values(arm, name)) for name in names} for arm, names in asked.items()}
    reasons = {arm.name: said for arm in found.arms if (said := found.reasons_of(arm))}
    rates = {arm.name: found.experiment.config(arm).learning_rate for arm in found.arms}
    return {
        "extended": found.extended, "seconds": round(found.seconds, 2), "rates": rates, "arms": arms, "reasons": reasons
    }  # fmt: skip


@dataclass(frozen=True)
class ShippedResult:
    """What the shipped evidence says about an issue's question, over all its seeds."""

    finding: Finding
    """About the figure's claim; undecided where the sets of seeds disagree."""
    outcome: Outcome
    report: Report


def shipped_result(experiment: Experiment, figure: KeyFigure) -> ShippedResult | None:
    """None where no evidence on the experiment was shipped, or none on the figure's two rows."""
    pooled = pooled_report(experiment)
    if pooled is None:
        return None
    finding = finding_of(pooled.claim(figure.claim), shipped_reports(experiment))
    outcome = outcome_of(figure, pooled.values, finding)
    return ShippedResult(finding, outcome, pooled) if outcome is not None else None


@dataclass(frozen=True)
class ShippedClaim:
    """A claim with its finding and its effect over all shipped seeds."""

    claim: Claim
    finding: Finding
    """Over all seeds together; undecided where sets of seeds contradict each other."""
    by_set: tuple[Finding, ...]
    """The finding of each set of seeds alone."""
    effect: float
    """The mean over the seeds, in the claim's unit."""
    seeds: int
    """The number of seeds that have an effect."""
    agreeing: int
    """The number of seeds whose effect has the sign of the mean."""
    sides: tuple[float, float] | None
    """The means before and after; None where the effect is no difference of two stored numbers."""


def shipped_claims(experiment: Experiment) -> list[ShippedClaim]:
    """The claims that were measured, in their order; none where no evidence on the experiment was shipped."""
    pooled, reports = pooled_report(experiment), shipped_reports(experiment)
    if pooled is None:
        return []
    claims = []
    for row in pooled.claims:
        claim = row.claim
        effects = np.array([effect for effect in row.effects if effect is not None], dtype=float)
        if len(effects):
            mean = float(effects.mean())
            agreeing = int((np.sign(effects) == np.sign(mean)).sum())
            above_zero = isinstance(claim.effect, Change) and claim.effect.before == 0.0  # then it is a number itself
            sides = None if above_zero else sides_of(claim, pooled.values)
            finding, alone = finding_of(row, reports), findings_alone(claim, reports)
            claims.append(ShippedClaim(claim, finding, alone, mean, len(effects), agreeing, sides))
    return claims


def finding_of(pooled: ClaimReport, reports: Iterable[Report]) -> Finding:
    """The finding about a claim over all seeds together, beside the reports on each set alone."""
    return pooled_finding(pooled.finding, findings_alone(pooled.claim, reports))


def findings_alone(claim: Claim, reports: Iterable[Report]) -> tuple[Finding, ...]:
    """The finding about a claim of each set of seeds alone, where it was measured."""
    return tuple(one.finding for found in reports for one in found.claims if one.claim.id == claim.id)
