"""A key figure's outcome: computed from the seeds, and told in one sentence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.experiments.experiment import Values
from engine.experiments.key_figure import BYTES, Answer, number, outcome_of
from engine.experiments.statistics import Finding
from tests.engine.experiments.fake_issue import fake_issue

FIGURE = replace(fake_issue().key_figure, subject="accuracy", change="Without it", unit="")


def values_of(before: list[float], after: list[float]) -> Values:
    return lambda arm, _: np.array(before if arm == FIGURE.before.arm else after)


def test_the_sentence_tells_before_after_and_in_how_many_seeds() -> None:
    found = outcome_of(FIGURE, values_of([0.99, 0.98, 0.97], [0.11, 0.10, 0.99]), Finding.HOLDS)
    assert found is not None
    assert found.sentence == "Without it accuracy falls from .98 to .40, in 2 of 3 seeds."
    assert (found.answer, found.agreeing, found.seeds) == (-1, 2, 3)


@pytest.mark.parametrize(
    ("finding", "after", "answer"),
    [
        (Finding.HOLDS, 0.9, 1), (Finding.OPPOSITE, 0.1, -1), (Finding.NONE, 0.51, 0), (Finding.UNDECIDED, 0.9, None),
        (Finding.HOLDS, 0.5, 0),
    ],
)  # fmt: skip
def test_the_right_answer_comes_from_the_finding_and_the_side_of_the_means(
    finding: Finding, after: float, answer: Answer | None
) -> None:
    found = outcome_of(FIGURE, values_of([0.5] * 8, [after] * 8), finding)
    assert found is not None
    assert found.answer == answer
    assert ("stays about the same" in found.sentence) == (answer == 0)
    assert ("undecided" in found.sentence) == (answer is None)


def test_only_seeds_with_both_numbers_count() -> None:
    nan = math.nan
    assert outcome_of(FIGURE, values_of([nan, 0.5], [0.5, nan]), Finding.UNDECIDED) is None
    found = outcome_of(FIGURE, values_of([0.5, 0.7, nan], [0.1, nan, 0.3]), Finding.UNDECIDED)
    assert found is not None
    assert (found.before, found.after, found.seeds) == (0.5, 0.1, 1)
    assert "in 1 of 1 seed." in found.sentence


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.994, ".99"), (1.0, "1"), (0.0, "0"), (0.10, ".10"), (-0.25, "-.25"), (2.345, "2.35"), (34176, "34,176"),
     (3.2e-7, "3.2 × 10^-7"), (-0.0001, "-1.0 × 10^-4")],
)  # fmt: skip
def test_numbers_are_short(value: float, written: str) -> None:
    assert number(value) == written


def test_what_is_nearly_zero_is_zero_on_a_linear_scale_and_sizes_have_their_unit() -> None:
    assert FIGURE.written(-0.0004) == "0"
    assert replace(FIGURE, scale="log").written(0.0004) == "4.0 × 10^-4"
    assert replace(FIGURE, unit=BYTES).written(2.5 * 2**20) == "2.5 MiB"
