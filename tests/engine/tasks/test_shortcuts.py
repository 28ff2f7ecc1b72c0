"""Tasks with a shortcut, against slow rules of their own: how often it holds, and that the rule always does."""

from typing import Any

import pytest
import torch

from engine.config.run_config import parse
from engine.tasks.base.data import IGNORE, task_data
from engine.tasks.cue_majority.data import BLANK, label
from engine.tasks.key_token.data import shortcut_answers
from engine.training.data import Data

MAJORITY, KEY = {"task": "cue_majority", "family": "encoder"}, {"task": "key_token", "family": "encoder"}


def drawn(flat: dict[str, Any], batch: int, length: int) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """The task's settings, and sequences and answers, [batch, length] each."""
    return read(parse(flat).task_settings, str(flat["task"]), batch, length)


def read(own: Any, task: str, batch: int, length: int) -> tuple[Any, torch.Tensor, torch.Tensor]:
    source = task_data(task).draw(batch, length, own, torch.Generator().manual_seed(0))
    return own, source, task_data(task).answer(source, own)


def majority(**given: Any) -> Any:
    return parse({**MAJORITY, **given}).task_settings


def cues_and_labels(own: Any) -> tuple[torch.Tensor, torch.Tensor]:
    _, source, _ = read(own, "cue_majority", 8000, 12)
    return source[:, 0] - own.vocab_size, label(source, own)


def share(which: torch.Tensor) -> float:
    return which.float().mean().item()


@pytest.mark.parametrize("symbols", [2, 9, 10])
def test_the_last_position_is_asked_for_the_majority(symbols: int) -> None:
    _, source, answers = drawn({**MAJORITY, "vocab_size": symbols}, 200, 8)
    for row, answer in zip(source.tolist(), answers.tolist(), strict=True):
        high = sum(symbol >= symbols / 2 for symbol in row[1:])
        assert answer == [IGNORE] * 7 + [int(high > 7 - high)]


@pytest.mark.parametrize("rho", [0.5, 0.9, 1.0])
def test_the_cue_agrees_as_often_as_it_should(rho: float) -> None:
    cue, truth = cues_and_labels(majority(cue_agreement=rho))
    assert share(cue == truth) == pytest.approx(rho, abs=0.02)
    assert share(truth == 1) == pytest.approx(0.5, abs=0.02)


def test_a_randomised_cue_says_nothing_a_blanked_one_is_not_shown_and_balanced_evaluation_takes_both_away() -> None:
    cue, truth = cues_and_labels(majority(cue_agreement=1.0, cue_randomised=1.0))
    assert share(cue == truth) == pytest.approx(0.5, abs=0.02)
    cue, truth = cues_and_labels(majority(cue_agreement=1.0, cue_blanked=0.3))
    assert share(cue == BLANK) == pytest.approx(0.3, abs=0.02)
    assert (cue == truth)[cue != BLANK].all()
    cue, truth = cues_and_labels(majority(cue_agreement=1.0, cue_blanked=1.0).decorrelated())
    assert not (cue == BLANK).any()
    assert share(cue == truth) == pytest.approx(0.5, abs=0.02)


def by_hand(row: list[int], symbols: int) -> list[int]:
    (key,) = [token - symbols for token in row if token >= symbols]
    return [IGNORE if token >= symbols else (token + key) % symbols for token in row]


@pytest.mark.parametrize("rho", [None, 0.0, 0.9, 1.0])
@pytest.mark.parametrize("symbols", [2, 4, 7])
def test_every_symbol_moves_by_the_one_key(symbols: int, rho: float | None) -> None:
    _, source, answers = drawn({**KEY, "vocab_size": symbols, "shortcut": rho}, 50, 9)
    assert answers.tolist() == [by_hand(row, symbols) for row in source.tolist()]


@pytest.mark.parametrize("rho", [0.0, 0.25, 0.9, 1.0])
def test_the_shortcut_is_right_as_often_as_it_should_be(rho: float) -> None:
    _, _, answer = drawn({**KEY, "shortcut": rho}, 4000, 16)
    asked = answer != IGNORE
    right = (answer == shortcut_answers(16, 4))[asked].float().mean().item()
    assert right == pytest.approx(rho, abs=0.01)


def test_without_the_correlation_symbols_and_answers_are_uniform_at_every_position() -> None:
    own = parse({**KEY, "shortcut": 1.0}).task_settings.decorrelated()
    _, source, answer = read(own, "key_token", 20_000, 6)
    for position in range(6):
        for values in (source[:, position], answer[:, position]):
            symbols = values[(values >= 0) & (values < 4)]
            assert (symbols.bincount(minlength=4) / len(symbols)).tolist() == pytest.approx([0.25] * 4, abs=0.02)


def test_the_key_stands_anywhere_and_is_any() -> None:
    _, source, _ = drawn({**KEY, "shortcut": 1.0}, 4000, 5)
    places, keys = (source >= 4).int().argmax(dim=1), source.max(dim=1).values - 4
    assert (places.bincount() / 4000).tolist() == pytest.approx([0.2] * 5, abs=0.03)
    assert (keys.bincount() / 4000).tolist() == pytest.approx([0.25] * 4, abs=0.03)


@pytest.mark.parametrize("rho", [None, 1.0])
def test_distinct_counts_the_sequences_that_can_be_drawn(rho: float | None) -> None:
    own, source, _ = drawn({**KEY, "vocab_size": 2, "shortcut": rho}, 3000, 3)
    assert len({tuple(row) for row in source.tolist()}) == own.distinct(3) == (24 if rho is None else 6)


def test_a_shortcut_that_leaves_few_sequences_does_not_stop_the_drawing() -> None:
    data = Data(parse({**KEY, "seq_len": 4, "shortcut": 1.0}))
    assert not data.holds_out(4)
    assert len(data.validation_batch().inputs) == 256
