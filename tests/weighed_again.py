"""The findings of the confirmatory seeds, weighed anew from the effects of the claims and by the rule in the README of the evidence."""

from functools import cache

import numpy as np

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.experiment import Claim
from engine.experiments.finding import FEWEST_SEEDS, Finding
from engine.experiments.issues import ISSUES
from engine.experiments.report import BySeed, Report
from engine.experiments.statistics import weigh


@cache
def findings() -> dict[tuple[str, str], Finding]:
    """Each finding by an issue's slug and the sentence of a claim; where the runs cannot tell, there is a reason for it, and the effect
    alone would not be decided for or against the claim without it."""
    found = {}
    for slug, issue in ISSUES.items():
        shown = shown_report(issue)
        for row in shown.claims if shown is not None else ():
            again = often(row.claim, row.effects, margins(shown, row.claim))
            cannot = row.finding is Finding.CANNOT_TELL and bool(row.weighed.why)
            found[slug, row.claim.sentence] = Finding.CANNOT_TELL if cannot else again
    return found


def margins(found: Report, claim: Claim) -> np.ndarray:
    """How much better than is asked the models are that must have learned their task first, [model, seed]."""
    numbers = {(trial.arm, trial.seed): trial.numbers for trial in found.trials}
    rows = [
        [(numbers[arm, seed].get(metric, np.nan) - level) * (-1 if "loss" in metric else 1) for seed in found.seeds]
        for arm, metric, level in claim.learned
    ]
    return np.array(rows).reshape(len(rows), len(found.seeds))


def often(claim: Claim, by_seed: BySeed, better: np.ndarray) -> Finding:
    """The finding that nine in ten draws of eight of sixteen seeds or more give too, with models that have learned their task; undecided
    where fewer do."""
    whole, effects = finding(claim, by_seed), np.array(by_seed, dtype=float)
    known = np.flatnonzero(np.isfinite(effects))
    if len(known) < 16 or np.ptp(effects[known]) == 0 or claim.computed:
        return whole
    draws = known[np.random.default_rng(0).integers(len(known), size=(8, 400))].T
    again = [finding(claim, effects[draw]) is whole and bool((better[:, draw].mean(1) >= 0).all()) for draw in draws]
    return whole if np.mean(again) >= 0.9 else Finding.UNDECIDED


def finding(claim: Claim, by_seed: BySeed) -> Finding:
    """The opposite holds where the claim would hold if every effect had the other sign."""
    effects = np.array(by_seed, dtype=float)
    here = weigh(effects, claim.smallest_effect, claim.direction)
    if here.finding is Finding.HOLDS:
        return Finding.HOLDS
    if weigh(-effects, claim.smallest_effect, claim.direction).finding is Finding.HOLDS:
        return Finding.OPPOSITE
    small = here.ci is not None and here.seeds >= FEWEST_SEEDS and max(map(abs, here.ci)) < claim.smallest_effect
    return Finding.SMALL if small else Finding.UNDECIDED
