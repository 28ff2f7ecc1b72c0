"""Power laws: against laws that are known, numpy's own fit, and how often the interval is right."""

import math

import numpy as np
import pytest

from engine.sweeps.fit import Fit, fit, fit_all, upper_part
from tests.tables import tables_beside

CASES = tables_beside(__file__)

PLACES = [64.0 * 2**power for power in range(7)]


@pytest.mark.parametrize("power", [0.0, 1.0, 1.46, 2.0])
def test_an_exact_law_is_found_exactly(power: float) -> None:
    found = fit([(place, 3e-5 * place**power) for place in PLACES])
    assert (found.exponent, found.low, found.high) == pytest.approx((power, power, power), abs=1e-6)
    assert found.at(1000.0) == pytest.approx(3e-5 * 1000.0**power)
    assert (found.first, found.last, found.points) == (512.0, 4096.0, 4)


def test_only_the_upper_part_counts_and_two_points_say_nothing() -> None:
    points = [(place, 1.0) for place in PLACES[:3]] + [(place, place**2) for place in PLACES[3:]]
    found = fit(points)
    assert found.exponent == pytest.approx(2.0)
    assert upper_part(list(reversed(points))) == points[3:]
    assert upper_part([]) == []
    assert fit([(2048.0, 1.0), (4096.0, 2.0)]) is None
    assert fit_all({"none": [], "two": [(1.0, 1.0), (2.0, 2.0)]}) == {}


def test_slope_and_interval_are_numpys_and_hold_the_true_exponent_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(0)
    x = np.log(PLACES[3:])
    y = 1.5 * x + generator.normal(size=4)
    (slope, _), covariance = np.polyfit(x, y, 1, cov="unscaled")
    error = math.sqrt(covariance[0][0] * np.square(y - np.polyval(np.polyfit(x, y, 1), x)).sum() / 2)
    found = fit([(math.exp(a), math.exp(b)) for a, b in zip(x, y, strict=True)])
    assert found.exponent == pytest.approx(slope)
    assert found.high - found.exponent == pytest.approx(4.302653 * error, rel=1e-5)  # t(.975, 2)

    generator = np.random.default_rng(1)
    draws = np.exp(generator.normal(scale=0.2, size=(400, 4)))
    laws = [fit([(p, p**1.5 * e) for p, e in zip(PLACES[3:], row, strict=True)]) for row in draws]
    assert 0.92 < np.mean([law.low < 1.5 < law.high for law in laws]) < 0.98


@pytest.mark.parametrize(("low", "high", "words"), CASES["intervals"])
def test_what_an_interval_allows_to_say(low: float, high: float, words: str) -> None:
    assert Fit((low + high) / 2, low, high, 0.0, 512.0, 4096.0, 4).says == words
