"""The statistics of a claim: paired t interval, exact sign-flip test, and the smallest effect that counts.

Eight paired seeds are few: a percentile bootstrap of eight covers only 89 %, so the interval is Student's; the p-value
makes no assumption on shape, since every pattern of signs is tried (Fisher 1935, The Design of Experiments, section 21).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from engine.experiments.finding import FEWEST_SEEDS, LEARNED_SEEDS, READERS_SEEDS, Finding
from engine.foundation.student import t_bound

LEVEL = 0.05
POWER = 0.8  # the probability with which Weighed.detectable is found, about
DRAWS = 20_000  # for share_again
EXACT_UP_TO = 18  # the most values of which every pattern of signs is tried
ROUNDING = 1e-12  # the share of the values' size within which two sums of them count as equal


def lowest_p(seeds: int) -> float:
    """The smallest p that a two-sided sign-flip test of ``seeds`` pairs can give."""
    return 2.0 ** (1 - seeds)


LOWEST_P = f"With eight seeds p cannot fall below {lowest_p(8):.4f}, whatever the effect."


@dataclass(frozen=True)
class Weighed:
    finding: Finding
    effect: float | None
    """The mean over the seeds; None if no seed has an effect."""
    ci: tuple[float, float] | None
    """The 95 % interval of the mean; None with fewer than two seeds."""
    p: float | None
    """The exact two-sided p-value; it cannot fall below ``lowest_p``. None with fewer than two seeds, and if every seed
    has the same effect, as for a count."""
    seeds: int
    """The number of seeds with an effect."""
    why: str
    smallest: float = 0.0

    @property
    def words(self) -> str:
        few = self.finding is Finding.UNDECIDED and self.seeds < FEWEST_SEEDS
        return "Undecided (needs at least six seeds)" if few else self.finding.words

    @property
    def exact(self) -> bool:
        """True if every seed has the same effect, as for a count: the interval then says nothing."""
        return self.ci is not None and self.ci[0] == self.ci[1]

    @property
    def excludes_zero(self) -> bool:
        """True if the sign of the effect is sure: its interval excludes zero, and p is below .05 if there is one."""
        return self.ci is not None and self.ci[0] * self.ci[1] > 0 and (self.p is None or self.p < LEVEL)

    @property
    def detectable(self) -> float | None:
        """The size of an effect that is found with a probability of about .8 by so many seeds with this spread; None if every seed
        has the same effect or there is no interval.

        The mean over the seeds must be at least ``smallest``, and so far from zero that the interval excludes it; the effect itself
        must be larger by as much as the mean falls short in one case of five (Cohen 1988, Statistical Power Analysis, section 2.4,
        with t in place of z). The sign-flip p, which has few values with few seeds, costs a little: simulated, effects above the
        smallest size are found with .81 with 16 seeds and with .76 with 8.
        """
        if self.ci is None or self.exact:
            return None
        half = (self.ci[1] - self.ci[0]) / 2
        standard_error = half / t_bound(self.seeds - 1, 1 - LEVEL)
        return max(self.smallest, half) + standard_error * t_bound(self.seeds - 1, 2 * POWER - 1)

    def to_json(self) -> dict[str, Any]:
        numbers = (self.effect, self.p, *(self.ci or ()))
        assert all(number is None or math.isfinite(number) for number in numbers)
        return {
            "finding": self.finding,
            "effect": self.effect,
            "ci": list(self.ci) if self.ci else None,
            "p": self.p,
            "detectable": self.detectable,
        }


def weigh(effects: ArrayLike, smallest: float, direction: Literal["more", "less"] = "more") -> Weighed:
    """The finding about a claim. It *holds*: the interval excludes zero on the claimed side, p < .05, and the mean is at least
    ``smallest``. The *opposite* holds: the same on the other side. *Too small*: the interval lies within that size on both sides.
    Otherwise, and with so few seeds that p cannot fall below .05, *undecided*.

    ``effects`` [seed]; those that are not finite are left out. Raises ValueError if ``smallest`` is not above 0.
    """
    if not smallest > 0:
        raise ValueError(f"smallest is {smallest}; it must be a number above 0.")
    values = np.asarray(effects, dtype=float)
    known = values[np.isfinite(values)]
    if len(known) < 2:
        mean, why = None, "No seed has a value."
        if len(known):
            mean, why = float(known[0]), "One seed says nothing about the next; six can decide."
        return Weighed(Finding.UNDECIDED, mean, None, None, len(known), why)
    sign = 1.0 if direction == "more" else -1.0
    mean = float(known.mean())
    low, high = t_interval(known)
    interval, p = (float(low), float(high)), float(sign_flip_p(known))
    low, high = sorted((sign * interval[0], sign * interval[1]))
    finding, why = _judge(sign * mean, low, high, p, smallest, len(known))
    exact = interval[0] == interval[1]
    return Weighed(finding, mean, interval, None if exact else p, len(known), why, smallest)


def _judge(mean: float, low: float, high: float, p: float, smallest: float, seeds: int) -> tuple[Finding, str]:
    """The finding and its reason. All numbers are on the claimed side: positive is what the claim says."""
    # fewer than six seeds decide neither way: two equal ones would make an interval of no width
    if lowest_p(seeds) >= LEVEL:
        return Finding.UNDECIDED, f"With {seeds} seeds p cannot fall below {lowest_p(seeds):.3g}; six can decide."
    numbers = mean, low, high, p, smallest
    if _says(Finding.HOLDS, *numbers):
        return Finding.HOLDS, f"The interval excludes zero, p < {LEVEL}, and the effect is at least {smallest:g}."
    if _says(Finding.OPPOSITE, *numbers):
        return (
            Finding.OPPOSITE,
            f"The interval excludes zero, p < {LEVEL}, and the opposite effect is at least {smallest:g}.",
        )
    if _says(Finding.SMALL, *numbers):
        why = f"The whole interval is nearer to zero than {smallest:g}, the smallest effect that counts."
        return Finding.SMALL, why
    if high < smallest:
        return Finding.UNDECIDED, "The claimed effect is excluded, but there may be one the other way."
    if low > 0 and p < LEVEL:
        return Finding.UNDECIDED, f"There is an effect, but it may be smaller or larger than {smallest:g}."
    return Finding.UNDECIDED, "The seeds disagree too much. More of them may decide."


def _says(finding: Finding, mean: Any, low: Any, high: Any, p: Any, smallest: float) -> Any:
    """True if the numbers meet the rule of a decided finding, elementwise for arrays; they meet at most one of the three."""
    match finding:
        case Finding.HOLDS:
            return (low > 0) & (p < LEVEL) & (mean >= smallest)
        case Finding.OPPOSITE:
            return (high < 0) & (p < LEVEL) & (mean <= -smallest)
    return (-smallest < low) & (high < smallest)


@lru_cache(1024)  # stored seeds are weighed at each redraw of a page
def share_again(
    effects: tuple[float, ...],
    smallest: float,
    direction: Literal["more", "less"],
    finding: Finding,
    learned: tuple[tuple[bool, ...], ...] = (),
) -> float:
    """The share of draws of :data:`READERS_SEEDS` seeds that give a finding again: its reproducibility probability (Shao and Chow
    2002, Reproducibility Probability in Clinical Trials), by drawing with replacement.

    ``effects``: by seed, all finite: a NaN would cost the cache its hits, since no two are equal. ``learned``: for each model that
    must have learned its task first, by seed, true if it has; a draw in which too few have does not give the finding.
    """
    signed = np.array(effects) * (1 if direction == "more" else -1)
    seeds = np.random.default_rng(0).integers(len(signed), size=(READERS_SEEDS, DRAWS))
    drawn = signed[seeds]  # [seed, draw]
    enough = np.all([np.array(one)[seeds].mean(0) >= LEARNED_SEEDS for one in learned], axis=0)
    again = _says(finding, drawn.mean(0), *t_interval(drawn), sign_flip_p(drawn), smallest)
    return float(np.mean(again & enough))


def t_interval(values: np.ndarray) -> tuple[Any, Any]:
    """Student's 95 % interval of the mean of paired differences: its two ends, a single point without spread. ``values`` [seed] or
    [seed, draw], with at least two seeds; each end is a number or [draw]."""
    mean = values.mean(0)
    half = t_bound(len(values) - 1, 1 - LEVEL) * values.std(0, ddof=1) / math.sqrt(len(values))
    half = np.where(np.ptp(values, 0) <= ROUNDING * np.maximum(1.0, np.abs(values).max(0)), 0.0, half)
    return mean - half, mean + half


# The fewest seeds with which p is corrected. With eight it cannot fall below .0078: corrected for seven claims it is above .05,
# whatever the effects.
FEWEST_FOR_HOLM = 16


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """The p-values corrected for their number (Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure): the chance of
    one or more below .05 is at most .05 if there is no effect at all. None stays, and does not count."""
    known = sorted((p, index) for index, p in enumerate(ps) if p is not None)
    corrected, highest = list[float | None](ps), 0.0
    for rank, (p, index) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        corrected[index] = highest
    return corrected


def sign_flip_p(values: np.ndarray) -> Any:
    """The two-sided p of a mean this far from zero if every sign could equally be the other. ``values`` [seed] or [seed, draw]; the p is a
    number or [draw].

    The sign of the last value stays: with every sign turned, a sum is as far from zero. Of more than ``EXACT_UP_TO`` values only as
    many patterns are tried, drawn at random and always the same ones.
    """
    if len(values) <= EXACT_UP_TO:
        sums = values[-1:]
        for value in values[:-1]:
            sums = np.concatenate((sums + value, sums - value))
    else:
        patterns = np.random.default_rng(0).integers(0, 2, (2 ** (EXACT_UP_TO - 1), len(values)))
        patterns[0] = 0  # the observed signs are one of the patterns
        sums = (1 - 2 * patterns) @ values
    return np.mean(np.abs(sums) >= np.abs(values.sum(0)) - ROUNDING * np.abs(values).sum(0), 0)
