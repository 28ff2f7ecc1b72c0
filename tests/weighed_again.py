"""The findings of the shipped evidence, weighed anew from the effects of its claims and by the rule in its README."""

from functools import cache

import numpy as np

from engine.experiments.evidence.shipped import shipped_reports
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.report import ClaimReport
from engine.experiments.statistics import weigh


@cache
def findings() -> dict[tuple[str, str], Finding]:
    """Each finding by an issue's slug and the sentence of a claim of today; undecided where two sets of seeds disagree."""
    each: dict[tuple[str, str], set[Finding]] = {}
    for slug, issue in ISSUES.items():
        for row in (row for report in shipped_reports(issue) for row in report.claims):
            each.setdefault((slug, row.claim.sentence), set()).add(finding(row))
    return {claim: found.pop() if len(found) == 1 else Finding.UNDECIDED for claim, found in each.items()}


def finding(row: ClaimReport) -> Finding:
    """The opposite holds where the claim would hold if every effect had the other sign."""
    claim, effects = row.claim, np.array(row.effects, dtype=float)
    sign = 1 if claim.direction == "more" else -1
    here, there = (weigh(own, claim.smallest_effect, claim.direction) for own in (effects, -effects))
    if Finding.HOLDS in (here.finding, there.finding):
        return Finding.HOLDS if here.finding is Finding.HOLDS else Finding.OPPOSITE
    below = here.ci is not None and max(sign * end for end in here.ci) < claim.smallest_effect
    return Finding.NONE if below else Finding.UNDECIDED
