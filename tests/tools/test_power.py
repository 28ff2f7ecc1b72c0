"""The power of the rule: what is planted is found as often as it must be, and docs/fair.md tells what the command writes."""

import re

import numpy as np
import pytest

from tests.engine.experiments.fake_issue import fake_report
from tools.power import (
    BEGIN,
    END,
    FAIR,
    Spread,
    between_marks,
    effects_of,
    measured,
    numbers_of,
    share_found,
    share_wrong,
)

SIXTEEN = np.random.default_rng(5).normal(7.0, 1.0, (10, 16))
"""The numbers of ten claims or arms, [number, seed]."""


@pytest.mark.parametrize("direction", ["more", "less"])
def test_planted_effects_are_found_as_often_as_the_rule_allows(direction: str) -> None:
    noisy, quiet = ([Spread(row, size, direction) for row in SIXTEEN] for size in (0.8, 8.0))  # type: ignore[arg-type]
    assert share_found(quiet, 0.5, 8, 40) == 0, "below the smallest size"
    assert share_found(quiet, 1.0, 8, 40) == pytest.approx(0.5, abs=0.08), "its mean is as often below it as above"
    assert share_found(quiet, 2.0, 8, 40) == 1
    by_size = [share_found(noisy, times, 8, 40) for times in (0.0, 1.0, 2.0)]
    assert by_size == sorted(by_size)
    assert by_size[0] < 0.06, "no more than the level of the test"
    assert share_found(noisy, 1.25, 16, 40) > share_found(noisy, 1.25, 8, 40)
    assert share_found(noisy, 2.0, 16, 10, again=True) < share_found(noisy, 2.0, 16, 10)
    assert share_found(quiet, 2.0, 16, 10, again=True) == 1


def test_an_arm_against_itself_is_decided_no_more_often_than_the_level_of_the_test_and_hardly_ever_above_a_size() -> (
    None
):
    tiny, large = ([Spread(row, size) for row in SIXTEEN] for size in (1e-6, 2.0))
    assert 0 < share_wrong(tiny, 40) < 0.08
    assert share_wrong(large, 40) == 0


def test_effects_and_numbers_are_gathered_over_the_sets_of_seeds_where_they_differ() -> None:
    reports = [fake_report(range(8)), fake_report(range(100, 108), short=0.6)]
    (effects,) = effects_of(reports)  # the other claim has the same effect with every seed
    assert effects.numbers == pytest.approx([0.4, 0.41] * 4 + [0.5, 0.51] * 4)
    assert (effects.smallest, effects.direction) == (0.01, "more")
    (numbers,) = numbers_of(reports)
    assert numbers.numbers == pytest.approx([0.5, 0.51] * 4 + [0.6, 0.61] * 4)
    assert effects_of(reports[:1]) == numbers_of(reports[:1]) == [], "eight seeds are too few"


def test_the_document_has_what_the_command_writes() -> None:
    """Where it fails, the evidence or the words are new: ``python -m tools.power`` writes the section anew."""
    made = measured(draws=1, draws_alike=1)
    text = FAIR.read_text("utf-8")
    told = text.partition(BEGIN)[2].partition(END)[0]
    shape = [re.sub(r"\d[\d,]* %|\d[\d.,]* %|\d[\d,]* (draws|times)", "#", section) for section in (told, made)]
    assert shape[0] == shape[1]
    assert between_marks(between_marks(text, made), told) == text
    with pytest.raises(ValueError, match="once each"):
        between_marks(text + BEGIN, made)
