"""Student's t distribution for a whole number of degrees of freedom, in its closed form: Abramowitz and Stegun (1964), Handbook of
Mathematical Functions, equations 26.7.3 and 26.7.4."""

import math
from functools import cache


@cache
def t_bound(degrees: int, share: float = 0.95) -> float:
    """The t with ``share`` of the distribution between -t and t: half the width of an interval, in standard errors."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):  # halves the angle's interval down to the rounding of a float
        middle = (low + high) / 2
        low, high = (middle, high) if _share_within(middle, degrees) < share else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def _share_within(angle: float, degrees: int) -> float:
    """The share of the distribution between -t and t, where t is sqrt(degrees) * tan(angle)."""
    odd = degrees % 2
    term, total = math.cos(angle) ** odd, 0.0
    for power in range(odd, degrees - 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (power + 1) / (power + 2)
    within = math.sin(angle) * total
    return 2 / math.pi * (angle + within) if odd else within
