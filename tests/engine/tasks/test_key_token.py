"""Key token against a slow rule of its own; how often the shortcut holds, and that the rule always does."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.config.run_config import parse
from engine.tasks.base.data import IGNORE
from engine.tasks.key_token.data import TASK, shortcut_answers
from engine.training.data import Data


def settings(**given: Any) -> Any:
    return parse({"task": "key_token", "family": "encoder", **given}).task_settings


def drawn(batch: int, length: int, given: Any) -> torch.Tensor:
    return TASK.draw(batch, length, given, torch.Generator().manual_seed(0))


def by_hand(row: list[int], symbols: int) -> list[int]:
    (key,) = [token - symbols for token in row if token >= symbols]
    return [IGNORE if token >= symbols else (token + key) % symbols for token in row]


@pytest.mark.parametrize("rho", [None, 0.0, 0.9, 1.0])
@pytest.mark.parametrize("symbols", [2, 4, 7])
def test_every_symbol_moves_by_the_one_key(symbols: int, rho: float | None) -> None:
    given = settings(vocab_size=symbols, shortcut=rho)
    source = drawn(50, 9, given)
    assert TASK.answer(source, given).tolist() == [by_hand(row, symbols) for row in source.tolist()]


@pytest.mark.parametrize("rho", [0.0, 0.25, 0.9, 1.0])
def test_the_shortcut_is_right_as_often_as_it_should_be(rho: float) -> None:
    given = settings(shortcut=rho)
    answer = TASK.answer(drawn(4000, 16, given), given)
    asked = answer != IGNORE
    right = (answer == shortcut_answers(16, 4))[asked].float().mean().item()
    assert right == pytest.approx(rho, abs=0.01)


def test_without_the_correlation_symbols_and_answers_are_uniform_at_every_position() -> None:
    given = settings(shortcut=1.0).decorrelated()
    source = drawn(20_000, 6, given)
    answer = TASK.answer(source, given)
    for position in range(6):
        for values in (source[:, position], answer[:, position]):
            symbols = values[(values >= 0) & (values < 4)]
            assert (symbols.bincount(minlength=4) / len(symbols)).tolist() == pytest.approx([0.25] * 4, abs=0.02)


def test_the_key_stands_anywhere_and_is_any() -> None:
    source = drawn(4000, 5, settings(shortcut=1.0))
    places, keys = (source >= 4).int().argmax(dim=1), source.max(dim=1).values - 4
    assert (places.bincount() / 4000).tolist() == pytest.approx([0.2] * 5, abs=0.03)
    assert (keys.bincount() / 4000).tolist() == pytest.approx([0.25] * 4, abs=0.03)


@pytest.mark.parametrize("rho", [None, 1.0])
def test_distinct_counts_the_sequences_that_can_be_drawn(rho: float | None) -> None:
    given = settings(vocab_size=2, shortcut=rho)
    rows = {tuple(row) for row in drawn(3000, 3, given).tolist()}
    assert len(rows) == given.distinct(3) == (24 if rho is None else 6)


def test_a_shortcut_that_leaves_few_sequences_does_not_stop_the_drawing() -> None:
    data = Data(parse({"task": "key_token", "family": "encoder", "seq_len": 4, "shortcut": 1.0}))
    assert not data.holds_out(4)
    assert len(data.validation_batch().inputs) == 256
