"""The rules of evidence against known cases: what is null, what is planted, what has no spread, what is missing."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from engine.experiments.statistics import lowest_p, sign_flip_p, t_interval, to_json, weigh

DRAWS = 400


def draws(mean: float, spread: float = 1.0, seeds: int = 8, count: int = DRAWS) -> np.ndarray:
    """[draw, seed]"""
    return np.random.default_rng(7).normal(mean, spread, (count, seeds))


def test_no_effect_is_shown_at_no_more_than_the_nominal_rate() -> None:
    shown = [weigh(row, 1e-6).verdict == "shown" for row in draws(0.0)]
    # 5 % is two-sided and only one side is claimed: 2.5 %, plus three standard errors of 400 draws.
    assert np.mean(shown) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / DRAWS)


def test_no_effect_is_said_not_to_be_there_when_the_spread_is_small_beside_the_smallest_effect() -> None:
    verdicts = [weigh(row, 0.5).verdict for row in draws(0.0, spread=0.2, count=50)]
    assert verdicts.count("not shown") == 50


@pytest.mark.parametrize(("effect", "direction"), [(1.0, "more"), (-1.0, "less")])
def test_a_planted_effect_is_found(effect: float, direction: str) -> None:
    shown = [weigh(row, 0.3, direction).verdict == "shown" for row in draws(effect, spread=0.3, count=100)]  # type: ignore[arg-type]
    assert np.mean(shown) > 0.97


def test_an_effect_the_other_way_is_not_shown_and_says_so() -> None:
    found = weigh(draws(-1.0, spread=0.1, count=1)[0], 0.3)
    assert found.verdict == "not shown"
    assert "other way" in found.why


def test_an_effect_smaller_than_worth_naming_is_not_shown_though_significant() -> None:
    found = weigh(draws(0.1, spread=0.01, count=1)[0], 0.3)
    assert found.p is not None
    assert found.p < 0.05
    assert found.verdict == "not shown"


def test_an_effect_astride_the_smallest_is_inconclusive() -> None:
    found = weigh([0.1, 0.2, 0.3, 0.4, 0.5, 0.2, 0.3, 0.1], 0.3)
    assert found.verdict == "inconclusive"
    assert "either side" in found.why


def test_effects_without_spread_are_exact() -> None:
    found = weigh([1.0] * 8, 0.5)
    assert (found.verdict, found.ci, found.p) == ("shown", (1.0, 1.0), 2 / 2**8)
    nothing = weigh([0.0] * 8, 0.5)
    assert (nothing.verdict, nothing.ci, nothing.p) == ("not shown", (0.0, 0.0), 1.0)


def test_equal_effects_that_differ_by_rounding_alone_have_no_spread() -> None:
    assert weigh([0.1 + 0.2, 0.3] * 4, 0.1).verdict == "shown"


@pytest.mark.parametrize("effects", [[], [math.nan] * 8, [math.nan] * 7 + [1.0]])
def test_nothing_to_weigh_is_inconclusive_and_no_nan_is_reported(effects: list[float]) -> None:
    found = weigh(effects, 0.5)
    assert found.verdict == "inconclusive"
    assert found.ci is None
    assert found.p is None
    assert "NaN" not in str(to_json(found))


def test_missing_seeds_are_left_out() -> None:
    assert weigh([1.0, math.nan, 1.1, 0.9, math.inf, 1.0, 1.2, 0.8], 0.5).seeds == 6


@pytest.mark.parametrize("effects", [[1.0, 1.1, 0.9, 1.0, 1.05], [0.0, 0.0], [0.1] * 5, [-2.0, -2.1]])
def test_five_seeds_cannot_decide_and_are_told_how_many_can(effects: list[float]) -> None:
    found = weigh(effects, 0.5)
    assert found.verdict == "inconclusive"
    assert "six" in found.why
    assert lowest_p(5) == 0.0625
    assert lowest_p(6) < 0.05


@pytest.mark.parametrize("seeds", [2, 6, 8, 10])
def test_the_sign_flip_test_is_the_share_of_sign_patterns_as_far_from_zero(seeds: int) -> None:
    values = np.random.default_rng(seeds).normal(0.4, 1.0, seeds)
    means = [abs(np.mean(values * signs)) for signs in product((1, -1), repeat=seeds)]
    expected = np.mean(np.array(means) >= abs(values.mean()) - 1e-12)
    assert sign_flip_p(values) == pytest.approx(expected)


def test_the_interval_covers_the_true_mean_as_often_as_it_says() -> None:
    covered = [low <= 0.3 <= high for low, high in map(t_interval, draws(0.3))]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.04)


def test_the_smallest_effect_must_be_declared() -> None:
    with pytest.raises(ValueError, match="smallest is 0"):
        weigh([1.0] * 8, 0.0)
