import re

import numpy as np
import pytest

from tools.power import BEGIN, END, FAIR, Spread, between_marks, measured, share_found, share_wrong

SIXTEEN = np.random.default_rng(5).normal(7.0, 1.0, (10, 16))  # the numbers of ten claims or arms, [number, seed]


def test_planted_effects_are_found_and_an_arm_against_itself_is_hardly_decided() -> None:
    noisy, quiet = ([Spread(row, size) for row in SIXTEEN] for size in (0.8, 8.0))
    assert share_found(quiet, 0.5, 8, 40) == 0, "below the smallest size"
    assert share_found(quiet, 1.0, 8, 40) == pytest.approx(0.5, abs=0.08), "its mean is as often below it as above"
    assert share_found(quiet, 2.0, 8, 40) == share_found(quiet, 2.0, 16, 10) == 1
    assert share_found(noisy, 0.0, 8, 40) < 0.06, "no more than the level of the test"
    assert 0 < share_wrong([Spread(row, 1e-6) for row in SIXTEEN], 40) < 0.08


def test_the_document_has_what_the_command_writes() -> None:
    """If it fails, the evidence or the words are new: ``python -m tools.power`` writes the section again."""
    made = measured(draws=1, draws_alike=1)
    text = FAIR.read_text("utf-8")
    text_of_rows = text.partition(BEGIN)[2].partition(END)[0]
    shape = [re.sub(r"\d[\d,]* %|\d[\d.,]* %|\d[\d,]* (draws|times)", "#", section) for section in (text_of_rows, made)]
    assert shape[0] == shape[1]
    assert between_marks(between_marks(text, made), text_of_rows) == text
    with pytest.raises(ValueError, match="once each"):
        between_marks(text + BEGIN, made)
