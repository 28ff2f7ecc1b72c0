"""What the shipped evidence says about each single claim of an experiment, over all its sets of seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.experiments.experiment import Change, Claim, Experiment, Values
from engine.experiments.finding import FINDINGS, Finding, agreed
from engine.experiments.published import shipped_reports, trials_of
from engine.experiments.report import ClaimReport, sides_of, values_of


@dataclass(frozen=True)
class ShippedClaim:
    """A claim with its finding and its effect over all shipped seeds."""

    claim: Claim
    finding: Finding
    """Undecided where the sets of seeds disagree."""
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
    reports = shipped_reports(experiment)
    seeds = [seed for report in reports for seed in report.seeds]
    values = values_of((trial for report in reports for trial in trials_of(report)), seeds)
    found = []
    for claim in experiment.claims:
        same = [row for report in reports for row in report.claims if row.id == claim.id]
        effects = _effects(same)
        if len(effects):
            mean = float(effects.mean())
            agreeing = int((np.sign(effects) == np.sign(mean)).sum())
            finding = agreed([row.finding for row in same])
            found.append(ShippedClaim(claim, finding, mean, len(effects), agreeing, _sides(claim, values)))
    return found


def counted_findings(claims: Iterable[ShippedClaim]) -> dict[Finding, int]:
    """How often each finding was made, in the order of their words."""
    counts = Counter(claim.finding for claim in claims)
    return {finding: counts[finding] for finding in FINDINGS}


def _sides(claim: Claim, values: Values) -> tuple[float, float] | None:
    above_zero = isinstance(claim.effect, Change) and claim.effect.before == 0.0  # then the effect is a number itself
    return None if above_zero else sides_of(claim, values)


def _effects(same: Iterable[ClaimReport]) -> np.ndarray:
    """The known effects of a claim over all sets, [seed]."""
    return np.array([effect for row in same for effect in row.effects if effect is not None], dtype=float)
