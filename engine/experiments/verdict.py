"""The verdict on a claim: the statistics of its effect, unless the runs cannot tell, with the reason why not.

Runs become a finding here alone; JSON, tables, pages and the answer take its words.
"""

import math
from dataclasses import replace

import numpy as np

from engine.experiments.bounds import best_value, bound_at, is_loss
from engine.experiments.experiment import Change, Claim, Experiment, Relative, Values
from engine.experiments.finding import FEWEST_SEEDS, LEARNED_SEEDS, READERS_SEEDS, Finding
from engine.experiments.statistics import Weighed, share_again, weigh

COMPUTED = "It is computed: no seed changes it."
# the bounds (bound_at) in a sentence
IN_WORDS = {
    "ceiling": "at the best possible value",
    "floor": "at the lowest possible value",
    "chance": "at chance level",
}


def weigh_claim(experiment: Experiment, claim: Claim, values: Values) -> Weighed:
    """The finding about a claim with its statistics and its reason. Too few seeds leave it undecided, whatever the
    numbers are."""
    weighed = weigh(claim.effect(values), claim.smallest_effect, claim.direction)
    if weighed.seeds < FEWEST_SEEDS:
        return weighed
    if claim.computed and weighed.finding.decided:
        return replace(weighed, why=COMPUTED)
    why = (
        _not_learned(claim, values)
        or _rate_at_grid_edge(experiment, claim)
        or _at_bounds(experiment, claim, values, weighed)
        or _no_room(experiment, claim, values, weighed)
    )
    return replace(weighed, finding=Finding.CANNOT_TELL, why=why) if why else weighed


def reproducibility(claim: Claim, values: Values, weighed: Weighed) -> float | None:
    """The share of draws of a reader's few seeds that give the finding of many again; None if there are few, or no seed
    can change it.

    A draw in which a model has not learned its task does not give the finding.
    """
    if not weighed.finding.decided or weighed.exact or weighed.seeds < 2 * READERS_SEEDS:
        return None
    effects = claim.effect(values)
    known = np.isfinite(effects)
    learned = tuple(tuple(_has_learned(values, *each)[known].tolist()) for each in claim.learned)
    return share_again(tuple(effects[known]), claim.smallest_effect, claim.direction, weighed.finding, learned)


def _has_learned(values: Values, arm: str, metric: str, level: float) -> np.ndarray:
    """True if the arm has reached the level, [seed]; False for a seed without a number."""
    numbers = values(arm, metric)
    return numbers <= level if is_loss(metric) else numbers >= level


def _not_learned(claim: Claim, values: Values) -> str:
    for arm, metric, level in claim.learned:
        seeds = int(np.isfinite(values(arm, metric)).sum())
        learned = int(_has_learned(values, arm, metric, level).sum())
        if seeds and learned < LEARNED_SEEDS * seeds:
            most = "at most " if is_loss(metric) else "at least "
            return f"“{arm}” has not learned its task: {metric} is {most}{level:g} in {learned} of {seeds} seeds."
    return ""


def _rate_at_grid_edge(experiment: Experiment, claim: Claim) -> str:
    for arm, _ in claim.numbers:
        if arm in experiment.rates_at_grid_edge:
            return f"The best learning rate of “{arm}” is the highest or lowest that we tried. One beyond it may be better."
    return ""


def _no_room(experiment: Experiment, claim: Claim, values: Values, weighed: Weighed) -> str:
    """The sentence on an effect that seems small because the better number has less room than the smallest size; else
    empty."""
    if claim.computed or weighed.finding is not Finding.SMALL or not isinstance(claim.effect, Change | Relative):
        return ""
    if isinstance(claim.effect, Relative):
        room, arm = 1.0, claim.effect.arm  # a share can fall by no more than the whole
    else:
        known = [(arm, metric) for arm, metric in claim.effect_numbers if _mean(values, arm, metric) is not None]
        room, arm = min((_room(experiment, values, *number), number[0]) for number in known)
    if room > claim.smallest_effect:
        return ""
    return f"“{arm}” has room for {room:.2g} at most, and the smallest effect that counts is {claim.smallest_effect:g}."


def _room(experiment: Experiment, values: Values, arm: str, metric: str) -> float:
    mean, best = _mean(values, arm, metric), best_value(experiment.config(experiment.arm(arm)), metric)
    return math.inf if mean is None or best is None else abs(best - mean)


def _at_bounds(experiment: Experiment, claim: Claim, values: Values, weighed: Weighed) -> str:
    """The sentence on numbers that leave no room for a difference; empty if there is room, or an effect was found all
    the same."""
    if claim.computed or weighed.finding not in (Finding.SMALL, Finding.UNDECIDED):
        return ""
    numbers = claim.effect_numbers
    at = {(arm, metric): bound for arm, metric in numbers if (bound := _bound(experiment, values, arm, metric))}
    # one number at a bound may hide the size of a small effect; an undecided one is hidden only if all are at a bound
    if len(at) < (1 if weighed.finding is Finding.SMALL else len(numbers)):
        return ""
    bounds = list(dict.fromkeys(at.values()))
    if len(at) == len(numbers) and len(bounds) == 1:
        both = "Both are" if len(at) == 2 else "It is" if len(at) == 1 else "All are"
        return f"{both} {IN_WORDS[bounds[0]]}, so no difference can appear."
    (arm, _), bound = next(iter(at.items()))
    return f"“{arm}” is {IN_WORDS[bound]}, which may hide a difference."


def _bound(experiment: Experiment, values: Values, arm: str, metric: str) -> str:
    mean = _mean(values, arm, metric)
    return "" if mean is None else bound_at(experiment.config(experiment.arm(arm)), metric, mean)


def _mean(values: Values, arm: str, metric: str) -> float | None:
    numbers = values(arm, metric)
    return float(np.nanmean(numbers)) if np.isfinite(numbers).any() else None
