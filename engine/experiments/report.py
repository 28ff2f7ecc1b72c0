"""The report of an experiment as data, for a page and for JSON: the finding about each claim, the values of each arm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from engine.experiments.experiment import Arm, Change, Claim, Experiment, Role, Values
from engine.experiments.finding import Finding
from engine.experiments.statistics import Weighed, to_json, weigh
from engine.experiments.trial import Trial


@dataclass(frozen=True)
class ClaimReport:
    id: str
    claim: str
    condition: str
    about: str
    unit: str
    smallest_effect: float
    direction: Literal["more", "less"]
    weighed: Weighed
    effects: list[float | None]
    """The effect by seed; None where it is not known."""

    @property
    def finding(self) -> Finding:
        return self.weighed.finding

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "claim": self.claim,
            **to_json(self.weighed),
            "unit": self.unit,
            "smallest_effect": self.smallest_effect,
            "direction": self.direction,
            "condition": self.condition,
            "about": self.about,
            "why": self.weighed.why,
            "effects": self.effects,
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> ClaimReport:
        """The claim report that :meth:`to_json` wrote, its effects weighed again: earlier versions had other words for findings."""
        weighed = weigh(np.array(row["effects"], dtype=float), row["smallest_effect"], row["direction"])
        told = ("id", "claim", "condition", "about", "unit", "smallest_effect", "direction", "effects")
        return cls(weighed=weighed, **{name: row[name] for name in told})


@dataclass(frozen=True)
class Point:
    """One point of an arm's line."""

    x: float
    metric: str
    values: list[float | None]
    """The value by seed; None where the trial has no such number."""


@dataclass(frozen=True)
class ArmReport:
    name: str
    role: Role
    metric: str
    values: list[float | None]
    """The value by seed; None where the trial has no such number."""
    outcomes: list[str] = field(default_factory=list)
    """The reasons of the seeds that did not finish."""
    points: list[Point] = field(default_factory=list)
    """The arm's own line, if it has one."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> ArmReport:
        """The arm report that :meth:`to_json` wrote."""
        return cls(**{**row, "points": [Point(**point) for point in row["points"]]})


@dataclass(frozen=True)
class Report:
    slug: str
    seeds: list[int]
    seeds_done: int
    """The number of seeds at which every arm has ended."""
    extended: bool
    claims: list[ClaimReport]
    arms: list[ArmReport]
    seconds: float

    def claim(self, name: str) -> ClaimReport:
        """The report on the claim of that id. Raises KeyError."""
        return {claim.id: claim for claim in self.claims}[name]

    def to_json(self) -> dict[str, Any]:
        """The report as plain data, with the first claim's numbers at the top, as in the command line's last line."""
        first = to_json(self.claims[0].weighed)
        return {
            "event": "report",
            "slug": self.slug,
            **first,
            "claims": [claim.to_json() for claim in self.claims],
            "arms": [arm.to_json() for arm in self.arms],
            "seeds": self.seeds,
            "extended": self.extended,
            "seconds": round(self.seconds, 2),
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Report:
        """The report of a finished experiment that :meth:`to_json` wrote."""
        return cls(
            slug=row["slug"],
            seeds=row["seeds"],
            seeds_done=len(row["seeds"]),
            extended=row["extended"],
            claims=[ClaimReport.from_json(claim) for claim in row["claims"]],
            arms=[ArmReport.from_json(arm) for arm in row["arms"]],
            seconds=row["seconds"],
        )


def report(
    experiment: Experiment,
    trials: Sequence[Trial],
    seeds: Sequence[int],
    *,
    extended: bool = False,
    seconds: float = 0.0,
) -> Report:
    """Weigh every claim on the trials so far, without incomplete pairs."""
    arms = experiment.arms_of(extended)
    by_key = {(trial.arm, trial.seed): trial for trial in trials}
    values = values_of(trials, seeds)
    return Report(
        slug=experiment.slug,
        seeds=list(seeds),
        seeds_done=seeds_done(arms, trials, seeds),
        extended=extended,
        claims=[_claim_report(claim, values) for claim in experiment.claims_of(extended)],
        arms=[_arm_report(arm, by_key, seeds, values) for arm in arms],
        seconds=seconds,
    )


def in_todays_words(experiment: Experiment, found: Report) -> Report | None:
    """A stored report with the sentences of the experiment's claims of today; None where it has other arms, or other claims.

    Claims are the same by id, subject, direction and smallest effect: their words may become better, their evidence stays.
    """
    claims, stored = experiment.claims_of(found.extended), {claim.id: claim for claim in found.claims}
    if [arm.name for arm in experiment.arms_of(found.extended)] != [arm.name for arm in found.arms]:
        return None
    if {_tested(claim) for claim in claims} != {_tested(claim) for claim in found.claims}:
        return None
    reworded = [
        replace(stored[claim.id], claim=claim.sentence, condition=claim.condition, unit=claim.unit) for claim in claims
    ]
    return replace(found, claims=reworded)


def _tested(claim: Claim | ClaimReport) -> tuple[str, str, str, float]:
    return claim.id, claim.about, claim.direction, claim.smallest_effect


def seeds_done(arms: Sequence[Arm], trials: Sequence[Trial], seeds: Sequence[int]) -> int:
    """The number of seeds at which every arm has ended."""
    ended = {(trial.arm, trial.seed) for trial in trials}
    return sum(all((arm.name, seed) in ended for arm in arms) for seed in seeds)


def values_of(trials: Iterable[Trial], seeds: Sequence[int]) -> Values:
    """The numbers of trials by arm and metric, [seed]; NaN where a seed has none."""
    by_key = {(trial.arm, trial.seed): trial for trial in trials}

    def values(arm: str, metric: str) -> np.ndarray:
        found = [by_key[arm, seed].number(metric) if (arm, seed) in by_key else math.nan for seed in seeds]
        return np.array(found, dtype=float)

    return values


def sides_of(claim: Claim, values: Values) -> tuple[float, float] | None:
    """The means before and after, over the seeds that have both numbers; None where the effect is no difference of two numbers."""
    if not isinstance(claim.effect, Change):
        return None
    before, after = claim.effect.sides(values)
    both = np.isfinite(before) & np.isfinite(after)
    return (float(before[both].mean()), float(after[both].mean())) if both.any() else None


def _claim_report(claim: Claim, values: Values) -> ClaimReport:
    effects = np.asarray(claim.effect(values), dtype=float)
    return ClaimReport(
        id=claim.id,
        claim=claim.sentence,
        condition=claim.condition,
        about=claim.about,
        unit=claim.unit,
        smallest_effect=claim.smallest_effect,
        direction=claim.direction,
        weighed=weigh(effects, claim.smallest_effect, claim.direction),
        effects=_plain(effects),
    )


def _arm_report(arm: Arm, by_key: dict[tuple[str, int], Trial], seeds: Sequence[int], values: Values) -> ArmReport:
    ended = [by_key[arm.name, seed] for seed in seeds if (arm.name, seed) in by_key]
    return ArmReport(
        name=arm.name,
        role=arm.role,
        metric=arm.metric,
        values=_plain(values(arm.name, arm.metric)),
        outcomes=sorted({trial.outcome for trial in ended if trial.outcome}),
        points=[Point(x, metric, _plain(values(arm.name, metric))) for x, metric in arm.points],
    )


def _plain(values: np.ndarray) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]
