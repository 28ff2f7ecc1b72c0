"""Exponents of costs whose growth is known."""

from __future__ import annotations

import numpy as np
import pytest

from engine.experiments.issues.scaling import exponent, log2_ratio, minus

SIZES = {2.0: "two", 4.0: "four", 8.0: "eight"}


def values(arm: str, metric: str) -> np.ndarray:
    """Three seeds: the first costs 5 n, the second .1 n², the third has no number."""
    n = {name: size for size, name in SIZES.items()}[arm]
    return np.array([5 * n, 0.1 * n**2, np.nan if arm == "four" else n])


def test_the_exponent_is_the_slope_on_logarithms_seed_by_seed() -> None:
    found = exponent(SIZES, "cost")(values)
    assert found[:2] == pytest.approx([1, 2])
    assert np.isnan(found[2])


def test_differences_of_exponents_and_ratios() -> None:
    assert minus(exponent(SIZES, "cost"), 1.0)(values)[:2] == pytest.approx([0, 1])
    assert minus(exponent(SIZES, "cost"), exponent(SIZES, "cost"))(values)[:2] == pytest.approx([0, 0])
    assert log2_ratio("eight", "two", "cost")(values) == pytest.approx([2, 4, 2])
