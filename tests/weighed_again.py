"""The findings of the shipped evidence, weighed anew from the effects in its files and by the rule in its README."""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.published import FOLDER
from engine.experiments.report import ClaimReport
from engine.experiments.statistics import weigh


@cache
def findings() -> dict[tuple[str, str], Finding]:
    """What was found, by an issue's slug and the sentence of a claim of today; undecided where two sets of seeds disagree."""
    each: dict[tuple[str, str], set[Finding]] = {}
    for file in FOLDER.glob("seeds-*.json"):
        for report in json.loads(file.read_text("utf-8"))["reports"]:
            claims = ISSUES[report["slug"]].claims_of(report["extended"])
            for claim, row in zip(claims, report["claims"], strict=True):
                found = finding(ClaimReport.from_json(row))
                each.setdefault((report["slug"], claim.sentence), set()).add(found)
    return {claim: found.pop() if len(found) == 1 else "undecided" for claim, found in each.items()}


def finding(claim: ClaimReport) -> Finding:
    """The opposite holds where the claim would hold if every effect had the other sign."""
    effects = np.array(claim.effects, dtype=float)
    sign = 1 if claim.direction == "more" else -1
    here, there = (weigh(own, claim.smallest_effect, claim.direction) for own in (effects, -effects))
    if here.finding == "holds":
        return "holds"
    if there.finding == "holds":
        return "opposite"
    return "none" if here.ci is not None and max(sign * end for end in here.ci) < claim.smallest_effect else "undecided"
