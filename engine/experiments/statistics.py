"""The statistics of a claim: paired t interval, exact sign-flip test, and the smallest effect worth naming.

Eight paired seeds are few: a percentile bootstrap of eight covers only 89 %, so the interval is Student's; the p-value
makes no assumption on shape, since every pattern of signs is tried (Fisher 1935, The Design of Experiments, section 21).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

Verdict = Literal["shown", "not shown", "inconclusive"]
LEVEL = 0.05
EXACT_UP_TO = 16
"""The number of seeds up to which every pattern of signs is tried."""


@dataclass(frozen=True)
class Weighed:
    """The statistics of an effect over paired seeds."""

    verdict: Verdict
    effect: float | None
    """The mean over the seeds; None where no seed has an effect."""
    ci: tuple[float, float] | None
    """The 95 % interval of the mean; None with fewer than two seeds."""
    p: float | None
    """The exact two-sided p-value; it cannot fall below ``lowest_p``."""
    seeds: int
    """The number of seeds that have an effect."""
    why: str
    """The reason for the verdict, in one sentence."""

    @property
    def exact(self) -> bool:
        """Whether every seed has the same effect, as where things are counted: interval and p then say nothing."""
        return self.ci is not None and self.ci[0] == self.ci[1]


Question = tuple[list[float | None], float, Literal["more", "less"]]
"""The arguments of :func:`weigh` as plain data: effects (None where a seed has none), smallest, direction."""


def weigh_all(questions: Sequence[Question]) -> list[Weighed]:
    return [
        weigh([math.nan if effect is None else effect for effect in effects], smallest, direction)
        for effects, smallest, direction in questions
    ]


def weigh(effects: ArrayLike, smallest: float, direction: Literal["more", "less"] = "more") -> Weighed:
    """The verdict on a claim. *Shown*: the interval excludes zero on the claimed side, p < .05, and the mean is at least ``smallest``.
    *Not shown*: the interval lies below that size, or the effect is significant the other way. Otherwise, and with so few
    seeds that p cannot fall below .05, inconclusive.

    ``effects`` [seed]; those that are not finite are left out. Raises ValueError where ``smallest`` is not above 0.
    """
    if not smallest > 0:
        raise ValueError(f"smallest is {smallest}; allowed is a number above 0.")
    given = np.asarray(effects, dtype=float)
    known = given[np.isfinite(given)]
    if len(known) < 2:
        return Weighed("inconclusive", float(known[0]) if len(known) else None, None, None, len(known), _too_few(known))
    sign = 1.0 if direction == "more" else -1.0
    mean = float(known.mean())
    interval, p = t_interval(known), sign_flip_p(known)
    low, high = sorted((sign * interval[0], sign * interval[1]))
    verdict, why = _judge(sign * mean, low, high, p, smallest, len(known))
    return Weighed(verdict, mean, interval, p, len(known), why)


def _judge(mean: float, low: float, high: float, p: float, smallest: float, seeds: int) -> tuple[Verdict, str]:
    """The verdict and its reason. All numbers are on the claimed side: positive is what the claim says.

    Fewer than six seeds decide neither way: two equal ones would make an interval of no width.
    """
    if lowest_p(seeds) >= LEVEL:
        return "inconclusive", f"With {seeds} seeds p cannot fall below {lowest_p(seeds):.3g}; six can decide."
    if low > 0 and p < LEVEL and mean >= smallest:
        return "shown", f"The interval excludes zero, p < {LEVEL}, and the effect is at least {smallest:g}."
    if high < 0 and p < LEVEL:
        return "not shown", "The effect is significant the other way."
    if high < smallest:
        return "not shown", f"The whole interval lies below {smallest:g}, the smallest effect worth naming."
    if low > 0 and p < LEVEL:
        return "inconclusive", f"There is an effect, but it may lie on either side of {smallest:g}."
    return "inconclusive", "The seeds disagree too much; more of them may decide."


def _too_few(known: np.ndarray) -> str:
    return "One seed says nothing about the next; six can decide." if len(known) else "No seed has a value."


def lowest_p(seeds: int) -> float:
    """The smallest p that a two-sided sign-flip test of ``seeds`` pairs can give."""
    return 2.0 ** (1 - seeds)


def t_interval(values: np.ndarray) -> tuple[float, float]:
    """Student's 95 % interval of the mean of paired differences, [seed] with at least two; a single point without spread."""
    from scipy import stats  # imported here: 60 MB that the page process saves, since its workers compute

    if np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return float(values.mean()), float(values.mean())
    interval = stats.ttest_1samp(values, 0.0).confidence_interval(1 - LEVEL)
    return float(interval.low), float(interval.high)


def sign_flip_p(values: np.ndarray) -> float:
    """The two-sided p of a mean this far from zero if every sign could equally be the other, [seed].

    Exact up to 16 seeds (all 2^n patterns).
    """
    from scipy import stats

    if not np.any(values):
        return 1.0
    found = stats.permutation_test(
        (values,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=2 ** min(len(values), EXACT_UP_TO),
    )
    return min(1.0, float(found.pvalue))


def to_json(weighed: Weighed) -> dict[str, Any]:
    numbers = (weighed.effect, weighed.p, *(weighed.ci or ()))
    assert all(number is None or math.isfinite(number) for number in numbers)
    return {
        "verdict": weighed.verdict,
        "effect": weighed.effect,
        "ci": list(weighed.ci) if weighed.ci else None,
        "p": weighed.p,
    }
