"""The verdict on a claim: the statistics of its effect, unless the runs cannot tell, with the reason why not.

This is the one place where runs become a finding; JSON, tables, pages and the answer take its words.
"""

from dataclasses import replace

import numpy as np

from engine.experiments.bounds import bound_at, is_loss
from engine.experiments.experiment import Claim, Experiment, Values
from engine.experiments.finding import FEWEST_SEEDS, MIN_AGAIN, READERS_SEEDS, Finding
from engine.experiments.statistics import Weighed, share_again, weigh
from engine.foundation.formatting import percent

COMPUTED = "It is computed: no seed changes it."
IN_WORDS = {
    "ceiling": "at the best value there is",
    "floor": "at the lowest value there is",
    "chance": "at blind guessing",
}
"""The bounds (:func:`engine.experiments.bounds.bound_at`) in a sentence."""


def verdict(experiment: Experiment, claim: Claim, values: Values) -> Weighed:
    """The finding about a claim with its statistics and its reason. With fewer seeds than can decide it is undecided, whatever the
    numbers are."""
    effects = claim.effect(values)
    weighed = weigh(effects, claim.smallest_effect, claim.direction)
    if weighed.seeds < FEWEST_SEEDS:
        return weighed
    if claim.computed and weighed.finding.decided:
        return replace(weighed, why=COMPUTED)
    why = (
        _not_learned(claim, values) or _rate_at_end(experiment, claim) or _at_bounds(experiment, claim, values, weighed)
    )
    if why:
        return replace(weighed, finding=Finding.CANNOT_TELL, why=why)
    why = _not_again(claim, values, effects, weighed)
    return replace(weighed, finding=Finding.UNDECIDED, why=why) if why else weighed


def _not_learned(claim: Claim, values: Values) -> str:
    """The sentence on the first arm that has not learned the task that the claim rests on; empty where all have."""
    for arm, metric, level in claim.learned:
        mean = _mean(values, arm, metric)
        if mean is not None and (mean > level if is_loss(metric) else mean < level):
            most = "at most " if is_loss(metric) else "at least "
            return f"“{arm}” has not learned its task: {metric} is {mean:.2f}, and the claim asks for {most}{level:g}."
    return ""


def _rate_at_end(experiment: Experiment, claim: Claim) -> str:
    """The sentence on the first arm that may be better at a learning rate farther off than was tried; empty where none is."""
    for arm, _ in claim.numbers:
        if arm in experiment.rates_at_end:
            return f"The best learning rate of “{arm}” is the last one that was tried: a farther one may be better."
    return ""


def _at_bounds(experiment: Experiment, claim: Claim, values: Values, weighed: Weighed) -> str:
    """The sentence on numbers that leave no room for a difference; empty where there is room, or an effect was found all the same.

    One number at a bound may hide the size of an effect that looks small; an effect that stays undecided is hidden only where all are.
    """
    if claim.computed or weighed.finding not in (Finding.SMALL, Finding.UNDECIDED):
        return ""
    numbers = claim.effect_numbers
    at = {(arm, metric): bound for arm, metric in numbers if (bound := _bound(experiment, values, arm, metric))}
    if len(at) < (1 if weighed.finding is Finding.SMALL else len(numbers)):
        return ""
    bounds = list(dict.fromkeys(at.values()))
    if len(at) == len(numbers) and len(bounds) == 1:
        both = "Both are" if len(at) == 2 else "It is" if len(at) == 1 else "All are"
        return f"{both} {IN_WORDS[bounds[0]]}, so nothing is left to differ."
    (arm, _), bound = next(iter(at.items()))
    return f"“{arm}” is {IN_WORDS[bound]}, which may hide a difference."


def _bound(experiment: Experiment, values: Values, arm: str, metric: str) -> str:
    mean = _mean(values, arm, metric)
    return "" if mean is None else bound_at(experiment.config(experiment.arm(arm)), metric, mean)


def _not_again(claim: Claim, values: Values, effects: np.ndarray, weighed: Weighed) -> str:
    """The sentence on a finding of many seeds that a reader's few would often not give; empty where they would. Nor do they
    where, with them, a model has not learned the task that the claim rests on."""
    if not weighed.finding.decided or weighed.exact or weighed.seeds < 2 * READERS_SEEDS:
        return ""
    known = np.isfinite(effects)
    beyond = tuple(
        tuple((level - values(arm, metric) if is_loss(metric) else values(arm, metric) - level)[known])
        for arm, metric, level in claim.learned
        if _mean(values, arm, metric) is not None
    )
    again = share_again(tuple(effects[known]), claim.smallest_effect, claim.direction, weighed.finding, beyond)
    if again >= MIN_AGAIN:
        return ""
    words = f"{weighed.finding.words} with these {weighed.seeds} seeds"
    return f"{words}, but only {percent(again)} of draws of {READERS_SEEDS} of them say so."


def _mean(values: Values, arm: str, metric: str) -> float | None:
    """The mean over the seeds that have the number; None where none has."""
    numbers = values(arm, metric)
    return float(np.nanmean(numbers)) if np.isfinite(numbers).any() else None
