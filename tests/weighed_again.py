"""The findings of the confirmatory seeds, weighed again from the effects of the claims and by the rule in the README of the evidence."""

from functools import cache

import numpy as np

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.experiment import Claim
from engine.experiments.finding import FEWEST_SEEDS, Finding
from engine.experiments.issues import ISSUES
from engine.experiments.statistics import sign_flip_p, t_interval


@cache
def findings() -> dict[tuple[str, str], Finding]:
    """Each finding by an issue's slug and the sentence of a claim; if the runs cannot tell, there is a reason for it, and the
    effect alone would not be decided for or against the claim without it."""
    found = {}
    for slug, issue in ISSUES.items():
        shown = shown_report(issue)
        for row in shown.claims if shown is not None else ():
            effects = np.array(row.effects, dtype=float)
            again = Finding(finding_by_draw(row.claim, effects[np.isfinite(effects), None])[0])
            if again in (Finding.HOLDS, Finding.OPPOSITE) and (row.p_holm or 0) >= 0.05:
                again = Finding.UNDECIDED
            cannot = row.finding is Finding.CANNOT_TELL and bool(row.weighed.why)
            found[slug, row.claim.sentence] = Finding.CANNOT_TELL if cannot else again
    return found


def finding_by_draw(claim: Claim, effects: np.ndarray) -> np.ndarray:
    """The finding about each draw of ``effects`` [seed, draw]."""
    if len(effects) < FEWEST_SEEDS:
        return np.full(effects.shape[1], Finding.UNDECIDED)
    sure = sign_flip_p(effects) < 0.05
    mean, (low, high) = effects.mean(0), t_interval(effects)
    if claim.direction == "less":
        mean, low, high = -mean, -high, -low
    size = claim.smallest_effect
    small = np.maximum(abs(low), abs(high)) < size
    rows = ((low > 0) & sure & (mean >= size), (high < 0) & sure & (mean <= -size), small)
    return np.select(rows, (Finding.HOLDS, Finding.OPPOSITE, Finding.SMALL), Finding.UNDECIDED)
