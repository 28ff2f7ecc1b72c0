"""The findings of the shipped evidence, weighed anew from the effects of its claims and by the rule in its README."""

from functools import cache

import numpy as np

from engine.experiments.evidence.shipped import shipped_reports
from engine.experiments.experiment import Claim
from engine.experiments.finding import FEWEST_SEEDS, Finding
from engine.experiments.issues import ISSUES
from engine.experiments.report import BySeed, ClaimReport
from engine.experiments.statistics import weigh


@cache
def findings() -> dict[tuple[str, str], Finding]:
    """Each finding over the effects of all seeds, by an issue's slug and the sentence of a claim of today; undecided where two sets of
    seeds are decided and contradict each other."""
    by_set: dict[tuple[str, str], list[ClaimReport]] = {}
    for slug, issue in ISSUES.items():
        for row in (row for report in shipped_reports(issue) for row in report.claims):
            by_set.setdefault((slug, row.claim.sentence), []).append(row)
    return {claim: _over(rows) for claim, rows in by_set.items()}


def _over(sets: list[ClaimReport]) -> Finding:
    decided = {finding(row.claim, row.effects) for row in sets} - {Finding.UNDECIDED}
    return Finding.UNDECIDED if len(decided) > 1 else finding(sets[0].claim, [e for row in sets for e in row.effects])


def finding(claim: Claim, by_seed: BySeed) -> Finding:
    """The opposite holds where the claim would hold if every effect had the other sign."""
    effects = np.array(by_seed, dtype=float)
    here, there = (weigh(own, claim.smallest_effect, claim.direction) for own in (effects, -effects))
    if Finding.HOLDS in (here.finding, there.finding):
        return Finding.HOLDS if here.finding is Finding.HOLDS else Finding.OPPOSITE
    small = here.ci is not None and here.seeds >= FEWEST_SEEDS and max(map(abs, here.ci)) < claim.smallest_effect
    return Finding.NONE if small else Finding.UNDECIDED
