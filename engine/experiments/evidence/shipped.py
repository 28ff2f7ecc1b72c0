"""The evidence that comes with this version, in the ``seeds-*.json`` of this folder: for each set of seeds the numbers of every arm.

Reports are computed when they are read: a claim's words and its statistics are those of today.
"""

import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.design import design_hash
from engine.experiments.experiment import CONFIRMATORY_SEEDS, FRESH_SEEDS, Arm, Change, Experiment
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import KeyFigure, KeyFinding, key_finding_in
from engine.experiments.report import BySeed, ClaimReport, Report, known, report, sides_of
from engine.experiments.trial import Trial
from engine.foundation.json_lines import json_lines
from engine.foundation.once import once


@once
def sets_of_seeds(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The stored sets, the confirmatory one first, then by first seed; empty if an installation lacks the documents."""
    sets = [json.loads(file.read_text("utf-8")) for file in folder.glob("seeds-*.json")]
    return sorted(sets, key=lambda measured: (not is_confirmatory(measured["seeds"]), int(measured["seeds"][0])))


def is_confirmatory(seeds: Sequence[int]) -> bool:
    return list(seeds) == list(CONFIRMATORY_SEEDS)


def is_fresh(seeds: Sequence[int]) -> bool:
    return list(seeds) == list(FRESH_SEEDS)


def shipped_reports(experiment: Experiment, folder: Path = FOLDER, *, confirmatory: bool | None = None) -> list[Report]:
    """The reports for each set of seeds, the confirmatory one first. ``confirmatory``: only that one, or only the
    others."""
    sets = [one for one in sets_of_seeds(folder) if confirmatory in (None, is_confirmatory(one["seeds"]))]
    reports = (shipped_report(experiment, measured) for measured in sets)
    return [each for each in reports if each is not None]


def shipped_report(experiment: Experiment, measured: dict[str, Any]) -> Report | None:
    """None if no arm was run in the set with the settings of today."""
    row = measured["issues"].get(experiment.slug)
    trials = _trials(experiment, row, measured["seeds"]) if row is not None else []
    if not trials:
        return None
    facts = {name: row.get(name, {}) for name in ("extended", "seconds", "reasons", "provenance", "moved")}
    return report(experiment, trials, measured["seeds"], **facts)


def shown_report(experiment: Experiment, folder: Path = FOLDER) -> Report | None:
    """The report on the confirmatory seeds, on which the shown findings rest; None if it was not run on them."""
    return next(iter(shipped_reports(experiment, folder, confirmatory=True)), None)


def shipped_trials(experiment: Experiment) -> list[Trial]:
    sets = [(measured["issues"].get(experiment.slug), measured["seeds"]) for measured in sets_of_seeds()]
    return [trial for row, seeds in sets if row is not None for trial in _trials(experiment, row, seeds)]


def _trials(experiment: Experiment, row: dict[str, Any], seeds: Sequence[int]) -> list[Trial]:
    """The trials with a number, of the arms whose settings have not changed since; their curves were not stored."""
    arms: dict[str, dict[str, BySeed]] = row["arms"]
    today = {arm.name: experiment.fingerprint(arm) for arm in experiment.arms if arm.name in arms}
    return [
        Trial(arm, seed, numbers)
        for arm, fingerprint in today.items()
        if row["fingerprints"][arm] == fingerprint
        for index, seed in enumerate(seeds)
        if (numbers := {name: value for name, values in arms[arm].items() if (value := values[index]) is not None})
    ]


def new_arms(experiment: Experiment, folder: Path) -> tuple[Arm, ...]:
    """The arms without stored numbers at the experiment's seeds with the settings of today."""
    rows = [
        one["issues"].get(experiment.slug, {})
        for one in sets_of_seeds(folder)
        if one["seeds"] == list(experiment.seed_range)
    ]
    stored = {
        name: mark for row in rows for name, mark in row.get("fingerprints", {}).items() if _has_every_seed(row, name)
    }
    return tuple(arm for arm in experiment.arms if stored.get(arm.name) != experiment.fingerprint(arm))


def _has_every_seed(row: dict[str, Any], arm: str) -> bool:
    """True if a number of the arm exists for each seed, or a reason is stored why some did not finish."""
    return arm in row.get("reasons", {}) or any(None not in numbers for numbers in row["arms"][arm].values())


def write_set(reports: Sequence[Report], folder: Path, *, only_new: bool = False) -> None:
    """Write the numbers of reports on the same seeds to ``seeds-<first>.json``, instead of earlier ones on the same
    issues, or with ``only_new`` next to those of their other arms. Raises ValueError if the file holds other seeds."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = reports[0].seeds
    file = folder / f"seeds-{seeds[0]}.json"
    before: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {"seeds": seeds, "issues": {}}
    if before["seeds"] != seeds:
        raise ValueError(f"{file.name} holds {len(before['seeds'])} seeds, and these reports {len(seeds)}.")
    issues = before["issues"]
    rows = {issue_report.experiment.slug: _row_of(issue_report) for issue_report in reports}
    issues |= {
        slug: _join_sets(issues[slug], row) if only_new and slug in issues else row for slug, row in rows.items()
    }
    row = {
        "seeds": seeds,
        "machine": f"{os.cpu_count()} CPU cores, {platform.machine()}",
        "issues": {slug: issues[slug] for slug in dict.fromkeys([*ISSUES, *issues]) if slug in issues},
    }
    file.write_text(json_lines(row, 4) + "\n", encoding="utf-8")  # a line for each arm
    sets_of_seeds.cache_clear()


def _join_sets(before: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    tables = {name: {**before[name], **new[name]} for name in ("rates", "fingerprints", "arms", "reasons")}
    origins = dict.fromkeys(new["arms"], new.get("provenance", {}))
    seconds = round(before["seconds"] + new["seconds"], 2)
    return {**before, **tables, "seconds": seconds, "moved": {**before.get("moved", {}), **origins}}


def _row_of(issue_report: Report) -> dict[str, Any]:
    metrics = {
        arm.name: dict.fromkeys((arm.metric, *(metric for _, metric in arm.points))) for arm in issue_report.arms
    }
    for claim in issue_report.experiment.claims:
        for arm, metric in claim.numbers:
            if arm in metrics:
                metrics[arm][metric] = None
    arms = {arm: {name: known(issue_report.values(arm, name)) for name in names} for arm, names in metrics.items()}
    reasons = {arm.name: sentence for arm in issue_report.arms if (sentence := issue_report.reasons_of(arm))}
    experiment = issue_report.experiment
    rates = {arm.name: experiment.config(arm).learning_rate for arm in issue_report.arms}
    fingerprints = {arm.name: experiment.fingerprint(arm) for arm in issue_report.arms}
    return {
        "extended": issue_report.extended, "seconds": round(_seconds_live(issue_report), 2), "rates": rates, "fingerprints": fingerprints,
        "arms": arms, "reasons": reasons, **({"provenance": issue_report.provenance} if issue_report.provenance else {}),
        **({"moved": dict(issue_report.moved)} if issue_report.moved else {}),
        **({"design": design_hash(experiment)} if experiment.own_sources else {}),
    }  # fmt: skip


def _seconds_live(issue_report: Report) -> float:
    """The part of the seconds that the live arms took, by the seconds of their trials. A class waits for these alone."""
    live = {arm.name for arm in issue_report.experiment.arms_of()}
    took = [(trial.arm, seconds) for trial in issue_report.trials if math.isfinite(seconds := trial.number("seconds"))]
    whole = sum(seconds for _, seconds in took)
    return (
        issue_report.seconds * sum(seconds for arm, seconds in took if arm in live) / whole
        if whole
        else issue_report.seconds
    )


@dataclass(frozen=True)
class ShippedResult:
    finding: KeyFinding
    report: Report


def shipped_result(experiment: Experiment, figure: KeyFigure) -> ShippedResult | None:
    confirmatory = shown_report(experiment)
    finding = confirmatory and key_finding_in(figure, confirmatory)
    return ShippedResult(finding, confirmatory) if confirmatory and finding else None


@dataclass(frozen=True, kw_only=True)
class ShippedClaim(ClaimReport):
    effect: float
    """The mean over the seeds, in the claim's unit."""
    sides: tuple[float, float] | None
    """The means before and after; None if the effect is no difference of two stored numbers."""
    known_seeds: tuple[Finding, ...]
    """The finding of each other set of seeds alone."""

    @property
    def agreeing(self) -> int:
        return sum(effect is not None and np.sign(effect) == np.sign(self.effect) for effect in self.effects)


def shipped_claims(experiment: Experiment) -> list[ShippedClaim]:
    confirmatory = shown_report(experiment)
    if confirmatory is None:
        return []
    claims, beside = list[ShippedClaim](), shipped_reports(experiment, confirmatory=False)
    for row in confirmatory.claims:
        if row.weighed.effect is not None:
            change = row.claim.effect
            above_zero = isinstance(change, Change) and change.before == 0.0  # then it is a number itself
            sides = None if above_zero else sides_of(row.claim, confirmatory.values)
            others = (one for other in beside for one in other.claims if one.claim.id == row.claim.id)
            known_seeds = tuple(one.finding for one in others if one.weighed.seeds)
            claims.append(ShippedClaim(**vars(row), effect=row.weighed.effect, sides=sides, known_seeds=known_seeds))
    return claims
