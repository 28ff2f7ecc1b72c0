"""The findings of the confirmatory seeds, weighed anew from the effects of the claims and by the rule in the README of the evidence."""

from functools import cache

import numpy as np

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.experiment import Claim
from engine.experiments.finding import FEWEST_SEEDS, Finding
from engine.experiments.issues import ISSUES
from engine.experiments.report import BySeed
from engine.experiments.statistics import weigh


@cache
def findings() -> dict[tuple[str, str], Finding]:
    """Each finding by an issue's slug and the sentence of a claim; where the runs cannot tell, there is a reason for it, and the effect
    alone would not be decided for or against the claim without it."""
    found = {}
    for slug, issue in ISSUES.items():
        shown = shown_report(issue)
        for row in shown.claims if shown is not None else ():
            again = often(row.claim, row.effects)
            cannot = row.finding is Finding.CANNOT_TELL and bool(row.weighed.why)
            found[slug, row.claim.sentence] = Finding.CANNOT_TELL if cannot else again
    return found


def often(claim: Claim, by_seed: BySeed) -> Finding:
    """The finding that nine in ten draws of eight of sixteen seeds or more give too; undecided where fewer do."""
    whole = finding(claim, by_seed)
    effects = np.array([effect for effect in by_seed if effect is not None])
    if len(effects) < 16 or np.ptp(effects) == 0 or claim.computed:
        return whole
    draws = np.random.default_rng(0).choice(effects, (8, 400)).T
    return whole if np.mean([finding(claim, draw) is whole for draw in draws]) >= 0.9 else Finding.UNDECIDED


def finding(claim: Claim, by_seed: BySeed) -> Finding:
    """The opposite holds where the claim would hold if every effect had the other sign."""
    effects = np.array(by_seed, dtype=float)
    here, there = (weigh(own, claim.smallest_effect, claim.direction) for own in (effects, -effects))
    if Finding.HOLDS in (here.finding, there.finding):
        return Finding.HOLDS if here.finding is Finding.HOLDS else Finding.OPPOSITE
    small = here.ci is not None and here.seeds >= FEWEST_SEEDS and max(map(abs, here.ci)) < claim.smallest_effect
    return Finding.SMALL if small else Finding.UNDECIDED
