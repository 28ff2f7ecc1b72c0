import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from engine.experiments.experiment import Arm, Change, Claim, Experiment, Values
from engine.experiments.finding import Finding
from engine.experiments.statistics import FEWEST_FOR_HOLM, LEVEL, Weighed, holm
from engine.experiments.trial import Trial
from engine.experiments.verdict import reproducibility, weigh_claim
from engine.foundation.formatting import counted
from engine.foundation.provenance import Provenance

BySeed = Sequence[float | None]


@dataclass(frozen=True)
class ClaimReport:
    claim: Claim
    effects: BySeed
    weighed: Weighed
    p_holm: float | None = None
    """Corrected for the number of claims of the report; None with few seeds."""

    @property
    def finding(self) -> Finding:
        return self.weighed.finding

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.claim.id,
            "claim": self.claim.sentence,
            **self.weighed.to_json(),
            "p_holm": self.p_holm,
            "unit": self.claim.unit,
            "smallest_effect": self.claim.smallest_effect,
            "direction": self.claim.direction,
            "condition": self.claim.condition,
            "about": self.claim.about,
            "computed": self.claim.computed,
            "why": self.weighed.why,
            "effects": self.effects,
        }


@dataclass(frozen=True)
class Report:
    experiment: Experiment
    seeds: list[int]
    trials: Sequence[Trial]
    claims: Sequence[ClaimReport]
    extended: bool = False
    seconds: float = 0.0
    reused: int = 0
    reasons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By arm, why seeds did not finish, if their trials do not say it, as in shipped evidence."""
    provenance: Provenance = field(default_factory=Provenance)
    moved: Mapping[str, Provenance] = field(default_factory=dict)
    """The origin of trials from elsewhere, by the earlier slug of an issue that is now a part of this one, or by the name of an
    arm: shipped evidence."""

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms of the experiment; of those that take longer all if they are requested, else those with a trial,
        such as a stored one."""
        ran = {trial.arm for trial in self.trials}
        return tuple(arm for arm in self.experiment.arms if self.extended or not arm.extended or arm.name in ran)

    @property
    def values(self) -> Values:
        return values_of(self.trials, self.seeds)

    @property
    def seeds_in_words(self) -> str:
        """The number and the range, "8 seeds (0 to 7)"; the number alone without a range, as of a class."""
        which = f" ({self.seed_range})" if self.seed_range else ""
        return f"{counted(len(self.seeds), 'seed')}{which}"

    @property
    def seed_range(self) -> str:
        """The range, "0 to 7", or the one seed; empty if the seeds are no range."""
        first, last = self.seeds[0], self.seeds[-1]
        if tuple(self.seeds) != tuple(range(first, first + len(self.seeds))):
            return ""
        return f"{first} to {last}" if last > first else f"{first}"

    def reproducibility(self, row: ClaimReport) -> float | None:
        return reproducibility(row.claim, self.values, row.weighed)

    def claim(self, name: str) -> ClaimReport:
        """Raises KeyError."""
        return {row.claim.id: row for row in self.claims}[name]

    def to_json(self) -> dict[str, Any]:
        """JSON with the first claim's numbers at the top, as in the command line's last line."""
        return {
            "event": "report",
            "slug": self.experiment.slug,
            **(self.claims[0].weighed.to_json() if self.claims else {}),
            "claims": [{**claim.to_json(), "again": self.reproducibility(claim)} for claim in self.claims],
            "arms": [self._arm_to_json(arm) for arm in self.arms],
            "seeds": self.seeds,
            "extended": self.extended,
            "seconds": round(self.seconds, 2),
            "provenance": self.provenance,
            **({"moved": self.moved} if self.moved else {}),
        }

    def reasons_of(self, arm: Arm) -> list[str]:
        failures = {trial.failure for trial in self.trials if trial.arm == arm.name and trial.failure}
        return sorted(failures.union(self.reasons.get(arm.name, ())))

    def _arm_to_json(self, arm: Arm) -> dict[str, Any]:
        def by_seed(metric: str) -> dict[str, Any]:
            return {"metric": metric, "values": known(self.values(arm.name, metric))}

        points = [{"x": x, **by_seed(metric)} for x, metric in arm.points]
        row = {"name": arm.name, "role": arm.role, **by_seed(arm.metric)}
        return {**row, "outcomes": self.reasons_of(arm), "points": points}


def report(
    experiment: Experiment, trials: Sequence[Trial], seeds: Sequence[int], *, extended: bool = False, **more: Any
) -> Report:
    """Weigh every claim on the trials so far, without incomplete pairs. ``more``: further fields of the report."""
    draft = Report(experiment, list(seeds), trials, (), extended, **more)
    values, claims = draft.values, experiment.claims_of(draft.arms)
    rows = [ClaimReport(one, known(one.effect(values)), weigh_claim(experiment, one, values)) for one in claims]
    corrected = holm([row.weighed.p if len(seeds) >= FEWEST_FOR_HOLM else None for row in rows])
    return replace(draft, claims=[_corrected(row, p) for row, p in zip(rows, corrected, strict=True)])


def _corrected(row: ClaimReport, p_holm: float | None) -> ClaimReport:
    row = replace(row, p_holm=p_holm)
    if p_holm is None or p_holm < LEVEL or row.finding not in (Finding.HOLDS, Finding.OPPOSITE):
        return row
    why = f"Corrected for the number of claims, p is {p_holm:.2g}."
    return replace(row, weighed=replace(row.weighed, finding=Finding.UNDECIDED, why=why))


def values_of(trials: Iterable[Trial], seeds: Sequence[int]) -> Values:
    """The numbers of trials by arm and metric, [seed]; NaN for a seed without one."""
    by_key = {(trial.arm, trial.seed): trial for trial in trials}

    def values(arm: str, metric: str) -> np.ndarray:
        numbers = [by_key[arm, seed].number(metric) if (arm, seed) in by_key else math.nan for seed in seeds]
        return np.array(numbers, dtype=float)

    return values


def sides_of(claim: Claim, values: Values) -> tuple[float, float] | None:
    """The means before and after over the seeds that have both numbers; None if the effect is no difference of two
    numbers."""
    if not isinstance(claim.effect, Change):
        return None
    before, after = claim.effect.sides(values)
    both = np.isfinite(before) & np.isfinite(after)
    return (float(before[both].mean()), float(after[both].mean())) if both.any() else None


def known(values: np.ndarray) -> list[float | None]:
    """JSON, [seed]; None for a number that is not finite."""
    return [float(value) if math.isfinite(value) else None for value in values]
