"""A key figure's outcome: computed from the seeds, and told in one sentence."""

from dataclasses import replace

import numpy as np
import pytest

from engine.experiments.key_figure import BYTES, Answer, number, outcome_of
from engine.experiments.statistics import Finding
from tests.engine.experiments.fake_issue import fake_issue

FIGURE = replace(fake_issue().key_figure, subject="accuracy", change="Without it", unit="")
NAN = np.nan
SAME = "Without it accuracy stays about the same: "


@pytest.mark.parametrize(
    ("before", "after", "finding", "answer", "sentence"),
    [
        ([0.99, 0.98, 0.97], [0.11, 0.10, 0.99], Finding.HOLDS, -1, "Without it accuracy falls from .98 to .40, in 2 of 3 seeds."),
        ([0.5], [0.9], Finding.HOLDS, 1, "Without it accuracy rises from .50 to .90, in 1 of 1 seed."),
        ([0.5] * 8, [0.1] * 8, Finding.OPPOSITE, -1, "Without it accuracy falls from .50 to .10, in 8 of 8 seeds."),
        ([0.5] * 8, [0.51] * 8, Finding.NONE, 0, f"{SAME}.50 and .51, over 8 seeds."),
        ([0.5] * 8, [0.5] * 8, Finding.HOLDS, 0, f"{SAME}.50 and .50, over 8 seeds."),
        ([0.5, 0.7, NAN], [0.9, NAN, 0.3], Finding.UNDECIDED, None,  # only seeds with both numbers count
         "Without it accuracy rises from .50 to .90, in 1 of 1 seed. So far this is undecided."),
    ],
)  # fmt: skip
def test_the_right_answer_comes_from_the_finding_and_the_side_of_the_means(
    before: list[float], after: list[float], finding: Finding, answer: Answer | None, sentence: str
) -> None:
    found = outcome_of(FIGURE, lambda arm, _: np.array(before if arm == FIGURE.before.arm else after), finding)
    assert found is not None
    assert (found.answer, found.sentence) == (answer, sentence)
    both = np.isfinite(before) & np.isfinite(after)
    assert (found.before, found.after) == pytest.approx(
        (np.mean(np.array(before)[both]), np.mean(np.array(after)[both]))
    )
    assert found.seeds == both.sum()


def test_without_a_seed_that_has_both_numbers_there_is_no_outcome() -> None:
    rows = {FIGURE.before.arm: [NAN, 0.5], FIGURE.after.arm: [0.5, NAN]}
    assert outcome_of(FIGURE, lambda arm, _: np.array(rows[arm]), Finding.UNDECIDED) is None


def test_numbers_are_short_and_sizes_have_their_unit() -> None:
    written = {
        0.994: ".99", 1.0: "1", 0.0: "0", 0.10: ".10", -0.25: "-.25", 2.345: "2.35", 34176: "34,176", 3.2e-7: "3.2 × 10^-7",
        -0.0001: "-1.0 × 10^-4",
    }  # fmt: skip
    assert {value: number(value) for value in written} == written
    assert FIGURE.written(-0.0004) == "0", "nearly zero is zero on a linear scale"
    assert replace(FIGURE, scale="log").written(0.0004) == "4.0 × 10^-4"
    assert replace(FIGURE, unit=BYTES).written(2.5 * 2**20) == "2.5 MiB"
