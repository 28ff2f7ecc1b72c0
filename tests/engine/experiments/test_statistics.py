import math
import tracemalloc
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from engine.experiments.finding import Finding
from engine.experiments.key_figure import key_finding_of, number
from engine.experiments.question import Direction
from engine.experiments.statistics import Weighed, holm, lowest_p, sign_flip_p, t_interval, weigh
from tests.engine.experiments.fake_issue import fake_issue
from tests.tables import tables_beside

CASES = tables_beside(__file__)

DRAWS = 400


def draws(mean: float, spread: float = 1.0, count: int = DRAWS) -> np.ndarray:
    """[draw, seed]"""
    return np.random.default_rng(7).normal(mean, spread, (count, 8))


@pytest.mark.parametrize(("effects", "direction", "finding", "why"), CASES["findings"])
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
    assert {weigh(row, 0.5).finding for row in draws(0.0, spread=0.2, count=50)} == {"too small"}
    assert np.mean([weigh(row, 0.3).finding == "holds" for row in draws(1.0, spread=0.3, count=100)]) > 0.97
    assert np.mean([weigh(row, 0.3, "less").finding == "holds" for row in draws(-1.0, spread=0.3, count=100)]) > 0.97
    small = weigh(draws(0.1, spread=0.01, count=1)[0], 0.3)
    assert (small.p < 0.05, small.finding) == (True, "too small"), "significant, and too small to count"


def test_effects_without_spread_are_exact_and_rounding_is_no_spread() -> None:
    found, nothing = weigh([1.0] * 8, 0.5), weigh([0.0] * 8, 0.5)
    assert (found.finding, found.ci, found.p, found.exact) == ("holds", (1.0, 1.0), None, True)
    assert (nothing.finding, nothing.ci, nothing.p) == ("too small", (0.0, 0.0), None)
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
    how = {"permutation_type": "samples", "vectorized": True, "n_resamples": 2**seeds}
    flipped = stats.permutation_test((values,), np.mean, **how)
    assert sign_flip_p(values) == pytest.approx(flipped.pvalue, rel=1e-12)
    assert sign_flip_p(np.arange(1.0, seeds + 1)) == lowest_p(seeds)


def test_p_of_sixteen_seeds_takes_the_memory_of_its_sums_and_not_of_all_signs() -> None:
    tracemalloc.start()
    try:
        sign_flip_p(np.random.default_rng(1).normal(0.3, 1.0, 16))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * 2**15 * 8, "eight numbers per pattern; the signs alone would be sixteen"


def test_of_many_seeds_a_part_of_the_patterns_is_tried_and_gives_nearly_the_same_p() -> None:
    values = np.random.default_rng(3).normal(0.4, 1.0, 32)
    normal = 2 * (1 - NormalDist().cdf(abs(values.sum()) / math.sqrt(np.square(values).sum())))
    assert sign_flip_p(values) == pytest.approx(normal, abs=0.01)
    assert 0 < sign_flip_p(np.ones(32)) < 1e-4


def test_holms_correction_is_that_of_his_paper_and_what_has_no_p_does_not_count() -> None:
    corrected = holm([0.01, 0.04, None, 0.03, 0.005])
    assert corrected == [pytest.approx(0.03), pytest.approx(0.06), None, pytest.approx(0.06), pytest.approx(0.02)]
    assert (holm([0.9, 0.8]), holm([None])) == ([1.0, 1.0], [None])


@pytest.mark.parametrize(("seeds", "within"), [(8, 0.05), (16, 0.03)])
@pytest.mark.parametrize("smallest", [0.01, 1.0, 5.0], ids=["far below the noise", "as large", "far above it"])
def test_an_effect_of_the_detectable_size_is_found_in_four_of_five_experiments(
    smallest: float, seeds: int, within: float
) -> None:
    spread = [-1.0, 1.0] * (seeds // 2)
    size = weigh(spread, smallest).detectable
    assert size > smallest
    many = np.random.default_rng(3).normal(size, np.std(spread, ddof=1), (2000, seeds))  # [experiment, seed]
    found = [weigh(effects, smallest).finding is Finding.HOLDS for effects in many]
    assert float(np.mean(found)) == pytest.approx(0.8, abs=within)
    assert weigh([1.0] * seeds, smallest).detectable is None


FIGURE = replace(fake_issue().key_figure, subject="accuracy", change="Without it", unit="")
NAN = np.nan
SAME = "Without it accuracy stays about the same: "
EIGHT = [0.50, 0.51, 0.52, 0.49, 0.50, 0.51, 0.49, 0.48]


def judged(finding: Finding, low: float = -1.0, high: float = 1.0, why: str = "") -> Weighed:
    return Weighed(finding, (low + high) / 2, (low, high), 0.01 if low * high > 0 else 0.9, 8, why)


@pytest.mark.parametrize(
    ("before", "after", "weighed", "answers", "sentence"),
    [
        ([0.99, 0.98, 0.97], [0.11, 0.10, 0.99], judged(Finding.HOLDS), (-1, None),
         "Without it accuracy falls from 0.98 to 0.40, in 2 of 3 seeds. At least 3 more seeds must run before we can decide."),
        ([0.5] * 8, [0.9] * 8, judged(Finding.HOLDS), (1, None), "Without it accuracy rises from 0.50 to 0.90, in 8 of 8 seeds."),
        ([0.5] * 8, [0.1] * 8, judged(Finding.OPPOSITE), (-1, None), "Without it accuracy falls from 0.50 to 0.10, in 8 of 8 seeds."),
        (EIGHT, EIGHT[::-1], judged(Finding.SMALL, -0.01, 0.02), (0, None), f"{SAME}0.50 and 0.50, over 8 seeds."),
        ([0.89] * 8, [0.96] * 8, judged(Finding.SMALL, 0.06, 0.08), (0, 1),
         "Without it accuracy rises from 0.89 to 0.96, in 8 of 8 seeds. That is too small to count here."),
        ([1.0] * 8, [1.0] * 8, judged(Finding.CANNOT_TELL, why="Both are at the best possible value."), (None, None),
         f"{SAME}1 and 1, over 8 seeds. These runs cannot tell. Both are at the best possible value."),
        ([0.5, 0.7, NAN], [0.9, NAN, 0.3], judged(Finding.UNDECIDED), (None, None),  # only seeds with both numbers count
         "Without it accuracy rises from 0.50 to 0.90, in 1 of 1 seed. At least 5 more seeds must run before we can decide."),
        ([0.501] * 6, [0.502] * 6, judged(Finding.UNDECIDED), (None, None),
         f"{SAME}0.50 and 0.50, over 6 seeds. These seeds do not decide it."),
        ([0.5] * 6, [0.6] * 6, judged(Finding.UNDECIDED), (None, None),
         "Without it accuracy rises from 0.50 to 0.60, in 6 of 6 seeds. These seeds do not decide it."),
    ],
)  # fmt: skip
def test_the_right_answers_come_from_the_verdict_and_the_side_of_the_means(
    before: list[float],
    after: list[float],
    weighed: Weighed,
    answers: tuple[Direction | None, Direction | None],
    sentence: str,
) -> None:
    found = key_finding_of(FIGURE, lambda arm, _: np.array(before if arm == FIGURE.before.arm else after), weighed)
    assert ((found.answer, found.also_right), found.sentence) == (answers, sentence)
    both = np.isfinite(before) & np.isfinite(after)
    means = [np.mean(np.array(values)[both]) for values in (before, after)]
    assert [found.before, found.after] == pytest.approx(means)
    assert found.seeds == both.sum()


def test_without_a_seed_that_has_both_numbers_there_is_no_outcome() -> None:
    rows = {FIGURE.before.arm: [NAN, 0.5], FIGURE.after.arm: [0.5, NAN]}
    assert key_finding_of(FIGURE, lambda arm, _: np.array(rows[arm]), judged(Finding.UNDECIDED)) is None


def test_the_reason_is_told_where_the_claim_holds_and_stored_seeds_are_named() -> None:
    figure = replace(FIGURE, because="it is so.")
    values = {FIGURE.before.arm: [0.5] * 6, FIGURE.after.arm: [0.9] * 6}
    for finding, because in ((Finding.HOLDS, "it is so."), (Finding.OPPOSITE, ""), (Finding.UNDECIDED, "")):
        found = key_finding_of(
            figure, lambda arm, _: np.array(values[arm]), judged(finding), subject="Here it", seed="stored seed"
        )
        assert found.because == because
        assert found.sentence.startswith("Here it rises from 0.50 to 0.90, in 6 of 6 stored seeds.")


def test_the_sentence_says_after_how_many_steps() -> None:
    def sentence(after: float) -> str:
        values = {FIGURE.before.arm: [0.5] * 6, FIGURE.after.arm: [after] * 6}
        found = key_finding_of(FIGURE, lambda arm, _: np.array(values[arm]), judged(Finding.UNDECIDED), steps=1200)
        assert found is not None
        return found.sentence

    assert sentence(0.9).startswith("Without it accuracy rises from 0.50 to 0.90 after 1,200 steps, in 6 of 6 seeds.")
    assert sentence(0.5).startswith(f"{SAME.removesuffix(': ')} after 1,200 steps: 0.50 and 0.50, over 6 seeds.")


def test_numbers_are_short() -> None:
    written = {
        0.994: "0.99", 1.0: "1", 0.0: "0", 0.10: "0.10", -0.25: "-0.25", 2.345: "2.35", 34176: "34,176", 3.2e-7: "3.2 × 10⁻⁷",
        -0.0001: "-1.0 × 10⁻⁴",
    }  # fmt: skip
    assert {value: number(value) for value in written} == written
    assert FIGURE.format_value(-0.0004) == "0", "nearly zero is zero"
