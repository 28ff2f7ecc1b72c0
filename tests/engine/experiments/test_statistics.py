"""The rules of evidence against known cases: what is null, what is planted, what has no spread, what is missing."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from engine.experiments.statistics import lowest_p, sign_flip_p, t_interval, weigh

DRAWS = 400


def draws(mean: float, spread: float = 1.0, seeds: int = 8, count: int = DRAWS) -> np.ndarray:
    """[draw, seed]"""
    return np.random.default_rng(7).normal(mean, spread, (count, seeds))


def test_no_effect_is_shown_at_no_more_than_the_nominal_rate() -> None:
    shown = [weigh(row, 1e-6).finding == "holds" for row in draws(0.0)]
    # 5 % is two-sided and only one side is claimed: 2.5 %, plus three standard errors of 400 draws.
    assert np.mean(shown) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / DRAWS)


def test_no_effect_is_said_not_to_be_there_when_the_spread_is_small_beside_the_smallest_effect() -> None:
    findings = [weigh(row, 0.5).finding for row in draws(0.0, spread=0.2, count=50)]
    assert findings.count("none") == 50


@pytest.mark.parametrize(("effect", "direction"), [(1.0, "more"), (-1.0, "less")])
def test_a_planted_effect_is_found(effect: float, direction: str) -> None:
    shown = [weigh(row, 0.3, direction).finding == "holds" for row in draws(effect, spread=0.3, count=100)]  # type: ignore[arg-type]
    assert np.mean(shown) > 0.97


def test_an_effect_the_other_way_is_the_opposite_and_says_so() -> None:
    found = weigh(draws(-1.0, spread=0.1, count=1)[0], 0.3)
    assert found.finding == "opposite"
    assert "other way" in found.why


def test_an_effect_smaller_than_worth_naming_is_none_though_significant() -> None:
    found = weigh(draws(0.1, spread=0.01, count=1)[0], 0.3)
    assert found.p is not None
    assert found.p < 0.05
    assert found.finding == "none"


def test_an_effect_astride_the_smallest_is_undecided() -> None:
    found = weigh([0.1, 0.2, 0.3, 0.4, 0.5, 0.2, 0.3, 0.1], 0.3)
    assert found.finding == "undecided"
    assert "either side" in found.why


def test_effects_without_spread_are_exact() -> None:
    found = weigh([1.0] * 8, 0.5)
    assert (found.finding, found.ci, found.p) == ("holds", (1.0, 1.0), 2 / 2**8)
    nothing = weigh([0.0] * 8, 0.5)
    assert (nothing.finding, nothing.ci, nothing.p) == ("none", (0.0, 0.0), 1.0)


def test_equal_effects_that_differ_by_rounding_alone_have_no_spread() -> None:
    assert weigh([0.1 + 0.2, 0.3] * 4, 0.1).finding == "holds"


@pytest.mark.parametrize("effects", [[], [math.nan] * 8, [math.nan] * 7 + [1.0]])
def test_nothing_to_weigh_is_undecided_and_no_nan_is_reported(effects: list[float]) -> None:
    found = weigh(effects, 0.5)
    assert found.finding == "undecided"
    assert found.ci is None
    assert found.p is None
    assert "NaN" not in str(found.to_json())


def test_missing_seeds_are_left_out() -> None:
    assert weigh([1.0, math.nan, 1.1, 0.9, math.inf, 1.0, 1.2, 0.8], 0.5).seeds == 6


@pytest.mark.parametrize("effects", [[1.0, 1.1, 0.9, 1.0, 1.05], [0.0, 0.0], [0.1] * 5, [-2.0, -2.1]])
def test_five_seeds_cannot_decide_and_are_told_how_many_can(effects: list[float]) -> None:
    found = weigh(effects, 0.5)
    assert found.finding == "undecided"
    assert "six" in found.why
    assert lowest_p(5) == 0.0625
    assert lowest_p(6) < 0.05


@pytest.mark.parametrize("seeds", [2, 6, 8, 10])
def test_the_sign_flip_test_is_the_share_of_sign_patterns_as_far_from_zero(seeds: int) -> None:
    values = np.random.default_rng(seeds).normal(0.4, 1.0, seeds)
    means = [abs(np.mean(values * signs)) for signs in product((1, -1), repeat=seeds)]
    expected = np.mean(np.array(means) >= abs(values.mean()) - 1e-12)
    assert sign_flip_p(values) == pytest.approx(expected)


@pytest.mark.parametrize("seeds", range(2, 17))
def test_interval_and_p_are_those_of_scipy(seeds: int) -> None:
    from scipy import stats

    """Rounded effects: many patterns of signs then have the same sum, and must be counted alike."""
    values = np.random.default_rng(seeds).normal(0.3, 1.0, seeds).round(1)
    interval = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert t_interval(values) == pytest.approx((interval.low, interval.high), rel=1e-12)
    flipped = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", vectorized=True, n_resamples=2**seeds
    )
    assert sign_flip_p(values) == pytest.approx(flipped.pvalue, rel=1e-12)


def test_the_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    covered = [low <= 0.3 <= high for low, high in map(t_interval, draws(0.3))]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.04)


def test_the_smallest_effect_must_be_declared() -> None:
    with pytest.raises(ValueError, match="smallest is 0"):
        weigh([1.0] * 8, 0.0)
