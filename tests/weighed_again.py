"""The findings of the confirmatory seeds, weighed anew from the effects of the claims and by the rule in the README of the evidence."""

from functools import cache

import numpy as np

from engine.experiments.evidence.shipped import shown_report
from engine.experiments.experiment import Claim
from engine.experiments.finding import FEWEST_SEEDS, Finding
from engine.experiments.issues import ISSUES
from engine.experiments.report import BySeed, Report
from engine.experiments.statistics import sign_flip_p, t_interval


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
    effects = np.array(by_seed, dtype=float)
    whole = Finding(given(claim, effects[np.isfinite(effects), None])[0])
    known = np.flatnonzero(np.isfinite(effects))
    if len(known) < 16 or np.ptp(effects[known]) == 0 or claim.computed:
        return whole
    draws = known[np.random.default_rng(0).integers(len(known), size=(8, 400))]
    learned = (better[:, draws].mean(1) >= 0).all(0)
    return whole if np.mean((given(claim, effects[draws]) == whole) & learned) >= 0.9 else Finding.UNDECIDED


def given(claim: Claim, effects: np.ndarray) -> np.ndarray:
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
