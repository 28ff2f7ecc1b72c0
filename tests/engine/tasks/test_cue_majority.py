"""Majority with a cue against a slow rule of its own; how often the cue agrees, is randomised, is blank."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.config.run_config import parse
from engine.tasks.base.data import IGNORE
from engine.tasks.cue_majority.data import BLANK, TASK, label


def settings(**given: Any) -> Any:
    return parse({"task": "cue_majority", "family": "encoder", **given}).task_settings


def cues_and_labels(given: Any) -> tuple[torch.Tensor, torch.Tensor]:
    source = TASK.draw(8000, 12, given, torch.Generator().manual_seed(0))
    return source[:, 0] - given.vocab_size, label(source, given)


def share(which: torch.Tensor) -> float:
    return which.float().mean().item()


@pytest.mark.parametrize("symbols", [2, 9, 10])
def test_the_last_position_is_asked_for_the_majority(symbols: int) -> None:
    given = settings(vocab_size=symbols)
    source = TASK.draw(200, 8, given, torch.Generator().manual_seed(0))
    for row, answer in zip(source.tolist(), TASK.answer(source, given).tolist(), strict=True):
        high = sum(symbol >= symbols / 2 for symbol in row[1:])
        assert answer == [IGNORE] * 7 + [int(high > 7 - high)]


@pytest.mark.parametrize("rho", [0.5, 0.9, 1.0])
def test_the_cue_agrees_as_often_as_it_should(rho: float) -> None:
    cue, truth = cues_and_labels(settings(cue_agreement=rho))
    assert share(cue == truth) == pytest.approx(rho, abs=0.02)
    assert share(truth == 1) == pytest.approx(0.5, abs=0.02)


def test_a_randomised_cue_says_nothing_a_blanked_one_is_not_shown_and_balanced_evaluation_takes_both_away() -> None:
    cue, truth = cues_and_labels(settings(cue_agreement=1.0, cue_randomised=1.0))
    assert share(cue == truth) == pytest.approx(0.5, abs=0.02)
    cue, truth = cues_and_labels(settings(cue_agreement=1.0, cue_blanked=0.3))
    assert share(cue == BLANK) == pytest.approx(0.3, abs=0.02)
    assert (cue == truth)[cue != BLANK].all()
    cue, truth = cues_and_labels(settings(cue_agreement=1.0, cue_blanked=1.0).decorrelated())
    assert not (cue == BLANK).any()
    assert share(cue == truth) == pytest.approx(0.5, abs=0.02)
