"""The findings of the shipped evidence, weighed anew from the effects in its files and by the rule in its README."""

from __future__ import annotations

import json
from functools import cache

from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.published import FOLDER
from engine.experiments.statistics import Question, weigh_all


@cache
def findings() -> dict[tuple[str, str], Finding]:
    """What was found, by an issue's slug and the sentence of a claim of today; undecided where two sets of seeds disagree."""
    each: dict[tuple[str, str], set[Finding]] = {}
    for file in FOLDER.glob("seeds-*.json"):
        for report in json.loads(file.read_text("utf-8"))["reports"]:
            claims = ISSUES[report["slug"]].claims_of(report["extended"])
            for claim, row in zip(claims, report["claims"], strict=True):
                found = finding((row["effects"], row["smallest_effect"], row["direction"]))
                each.setdefault((report["slug"], claim.sentence), set()).add(found)
    return {claim: found.pop() if len(found) == 1 else "undecided" for claim, found in each.items()}


def finding(question: Question) -> Finding:
    effects, smallest, direction = question
    sign = 1 if direction == "more" else -1
    turned: Question = ([None if effect is None else -effect for effect in effects], smallest, direction)
    here, there = weigh_all([question, turned])
    if here.verdict == "shown":
        return "holds"
    if there.verdict == "shown":
        return "opposite"
    return "none" if here.ci is not None and max(sign * end for end in here.ci) < smallest else "undecided"
