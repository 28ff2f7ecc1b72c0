"""The power law of a cost: the slope on logarithms, with its interval, over the upper part of the range."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression

from engine.foundation.formatting import listed
from engine.foundation.student import t_bound

REACH = 8
"""A fit takes only points within this factor of the largest length or depth: three doublings. Below, costs that do not grow
(weights, the start of a kernel) hide the law."""
FEWEST = 3
"""The fewest points of a fit: two points always lie on a line and give no interval."""

LAWS = {0.0: "a constant", 1.0: "n", 2.0: "n²"}
"""The names of the exponents."""
SAME = 0.05
"""The tolerance of an exponent: byte counts have no noise, so their interval may be narrower than the law is exact."""
NARROW = 0.5
"""The widest interval that agrees with one law: half the distance from n to n². A wider one allows too much between the laws."""

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Fit:
    """``value = exp(intercept) * place ** exponent`` over [first, last]."""

    exponent: float
    low: float
    high: float
    """The bounds of the exponent's 95 % interval: the deviation of the points from a line, by noise or by curvature."""
    intercept: float
    first: float
    last: float
    points: int

    def at(self, place: float) -> float:
        return math.exp(self.intercept + self.exponent * math.log(place))

    @property
    def says(self) -> str:
        """The laws that the interval allows, in words."""
        agree = [words for law, words in LAWS.items() if self.low - SAME <= law <= self.high + SAME]
        if len(agree) == 1 and self.high - self.low <= NARROW:
            return f"agrees with {agree[0]}"
        if len(agree) == 1:
            return f"undecided: {agree[0]}, or between two laws"
        if agree:
            return f"undecided: {listed(agree, 'or')}"
        below = [words for law, words in LAWS.items() if law < self.low]
        above = [words for law, words in LAWS.items() if law > self.high]
        if below and above:
            return f"between {below[-1]} and {above[0]}"
        return f"more than {below[-1]}" if below else f"less than {above[0]}"


def upper_part(points: Points) -> list[tuple[float, float]]:
    """The points that a fit takes, in order of x."""
    largest = max((place for place, _ in points), default=0.0)
    return sorted(point for point in points if point[0] * REACH >= largest and point[1] > 0)


def fit(points: Points) -> Fit | None:
    """Least squares on logarithms over the upper part, with Student's t interval for the slope; None with too few points."""
    taken = upper_part(points)
    if len(taken) < FEWEST:
        return None
    x, y = [math.log(place) for place, _ in taken], [math.log(value) for _, value in taken]
    slope, intercept = linear_regression(x, y)
    apart = sum((b - slope * a - intercept) ** 2 for a, b in zip(x, y, strict=True))
    error = math.sqrt(apart / (len(x) - 2) / sum((a - fmean(x)) ** 2 for a in x))
    half = t_bound(len(x) - 2) * error
    return Fit(slope, slope - half, slope + half, intercept, taken[0][0], taken[-1][0], len(taken))


def fit_all(lines: Mapping[str, Points]) -> dict[str, Fit]:
    """The fits by name; lines with too few points are left out."""
    return {name: found for name, points in lines.items() if (found := fit(points)) is not None}
