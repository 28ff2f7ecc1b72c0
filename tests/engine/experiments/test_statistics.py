"""The rules of evidence against known cases: what is null, what is planted, what has no spread, what is missing."""

import math

import numpy as np
import pytest

from engine.experiments.statistics import Finding, agreed, lowest_p, sign_flip_p, t_interval, weigh

DRAWS = 400
UP = [0.5, 0.6, 0.5, 0.6, 0.5, 0.6]
DOWN = [-effect for effect in UP]


def draws(mean: float, spread: float = 1.0, count: int = DRAWS) -> np.ndarray:
    """[draw, seed]"""
    return np.random.default_rng(7).normal(mean, spread, (count, 8))


@pytest.mark.parametrize(
    ("effects", "direction", "finding", "why"),
    [
        (UP, "more", "holds", "at least 0.1"),
        (DOWN, "less", "holds", ""),
        (DOWN, "more", "opposite", "other way"),
        (UP, "less", "opposite", ""),
        ([0.01, -0.01, 0.02, -0.02, 0.0, 0.01], "more", "none", "lies below 0.1"),
        # Surely on either side, and yet too small to be worth naming.
        ([0.02, 0.03, 0.02, 0.03, 0.02, 0.03], "more", "none", "lies below 0.1"),
        ([-0.02, -0.03, -0.02, -0.03, -0.02, -0.03], "more", "none", "other way"),
        # The interval excludes zero and p does not fall below .05: no finding rests on the interval alone, on either side.
        ([1.0, 1.0, 1.0, 1.0, 1.0, -0.01], "more", "undecided", "disagree"),
        ([-1.0, -1.0, -1.0, -1.0, -1.0, 0.01], "more", "none", ""),
        ([0.9, -0.9, 0.8, -0.2, 0.5, -0.1], "more", "undecided", "disagree"),
        ([0.03, 0.07, 0.1, 0.13, 0.17, 0.07, 0.1, 0.03], "more", "undecided", "either side"),
        # Five seeds cannot decide, and are told how many can.
        ([0.5, 0.6, 0.5], "more", "undecided", "six"),
        ([1.0, 1.1, 0.9, 1.0, 1.05], "more", "undecided", "six"),
        ([0.0, 0.0], "more", "undecided", "six"),
        ([-2.0, -2.1], "more", "undecided", "six"),
        ([math.nan] * 7 + [1.0], "more", "undecided", "six"),
        ([math.nan] * 8, "more", "undecided", "No seed has a value"),
        ([], "more", "undecided", "No seed has a value"),
    ],
)
def test_the_finding_about_effects_and_its_reason(effects: list[float], direction: str, finding: str, why: str) -> None:
    found = weigh(effects, 0.1, direction)  # type: ignore[arg-type]
    assert found.finding == finding
    assert why in found.why
    assert found.seeds == np.isfinite(effects).sum()
    assert "NaN" not in str(found.to_json())
    if found.seeds < 2:
        assert (found.ci, found.p) == (None, None)
    few = found.seeds < 6
    assert found.words == ("Undecided (needs at least six seeds)" if few else Finding(finding).words)


def test_no_effect_is_shown_at_no_more_than_the_nominal_rate_and_a_planted_one_is_found() -> None:
    shown = [weigh(row, 1e-6).finding == "holds" for row in draws(0.0)]
    # 5 % is two-sided and only one side is claimed: 2.5 %, plus three standard errors of 400 draws.
    assert np.mean(shown) <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / DRAWS)
    assert {weigh(row, 0.5).finding for row in draws(0.0, spread=0.2, count=50)} == {"none"}
    assert np.mean([weigh(row, 0.3).finding == "holds" for row in draws(1.0, spread=0.3, count=100)]) > 0.97
    assert np.mean([weigh(row, 0.3, "less").finding == "holds" for row in draws(-1.0, spread=0.3, count=100)]) > 0.97
    small = weigh(draws(0.1, spread=0.01, count=1)[0], 0.3)
    assert small.p is not None
    assert (small.p < 0.05, small.finding) == (True, "none"), "significant, and not worth naming"


def test_effects_without_spread_are_exact_and_rounding_is_no_spread() -> None:
    found, nothing = weigh([1.0] * 8, 0.5), weigh([0.0] * 8, 0.5)
    assert (found.finding, found.ci, found.p, found.exact) == ("holds", (1.0, 1.0), 2 / 2**8, True)
    assert (nothing.finding, nothing.ci, nothing.p) == ("none", (0.0, 0.0), 1.0)
    assert weigh([0.1 + 0.2, 0.3] * 4, 0.1).finding == "holds"


def test_seeds_without_a_value_are_left_out_and_the_smallest_effect_must_be_declared() -> None:
    assert weigh([1.0, math.nan, 1.1, 0.9, math.inf, 1.0, 1.2, 0.8], 0.5).seeds == 6
    with pytest.raises(ValueError, match="smallest is 0"):
        weigh([1.0] * 8, 0.0)


@pytest.mark.parametrize("seeds", range(2, 17))
def test_interval_and_p_are_those_of_scipy(seeds: int) -> None:
    """Rounded effects: many patterns of signs then have the same sum, and must be counted alike."""
    from scipy import stats

    values = np.random.default_rng(seeds).normal(0.3, 1.0, seeds).round(1)
    interval = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert t_interval(values) == pytest.approx((interval.low, interval.high), rel=1e-12)
    flipped = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", vectorized=True, n_resamples=2**seeds
    )
    assert sign_flip_p(values) == pytest.approx(flipped.pvalue, rel=1e-12)
    assert sign_flip_p(np.arange(1.0, seeds + 1)) == lowest_p(seeds)


def test_a_finding_has_the_sign_of_the_effect_on_the_claimed_side() -> None:
    assert [finding.sign for finding in Finding] == [1, -1, 0, None]
    assert [weigh([size] * 6, 0.1).finding.sign for size in (0.5, -0.5, 0.0)] == [1, -1, 0]


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "undecided"], "undecided"),
        (["none", "opposite"], "undecided"),
        (["none", None], "none"),
        ([None], "undecided"),
    ],
)
def test_findings_agree_or_are_undecided(findings: list[Finding | None], expected: Finding) -> None:
    assert agreed(findings) == expected
