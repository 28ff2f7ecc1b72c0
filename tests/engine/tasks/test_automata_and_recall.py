"""Parity, bracket depth and associative recall against slow rules of their own, and what their sequences promise."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.tasks.base.data import IGNORE
from engine.training.data import Data


def drawn(**settings: Any) -> tuple[RunConfig, list[list[int]], list[list[int]]]:
    config = parse({"batch_size": 500, **settings})
    batch = Data(config).training_batch()
    return config, batch.inputs.tolist(), batch.targets.tolist()


@pytest.mark.parametrize("vocab_size", [2, 3])
def test_parity_is_asked_at_the_end_only(vocab_size: int) -> None:
    _, read, asked = drawn(task="parity", seq_len=9, vocab_size=vocab_size)
    for symbols, answers in zip(read, asked, strict=True):
        state = 0
        for symbol in symbols:
            state = (state + symbol) % vocab_size
        assert answers == [IGNORE] * 8 + [state]


@pytest.mark.parametrize(("vocab_size", "max_depth"), [(2, 4), (2, 1), (6, 3)])
def test_bracket_depth_follows_an_automaton(vocab_size: int, max_depth: int) -> None:
    _, read, asked = drawn(task="dyck", seq_len=12, vocab_size=vocab_size, max_depth=max_depth)
    for symbols, answers in zip(read, asked, strict=True):
        depth, expected = 0, []
        for symbol in symbols:
            if symbol < vocab_size / 2 and depth < max_depth:
                depth += 1
            elif symbol >= vocab_size / 2 and depth > 0:
                depth -= 1
            expected.append(depth)
        assert answers == expected
    assert {depth for answers in asked for depth in answers} == set(range(max_depth + 1))


@pytest.mark.parametrize(("seq_len", "vocab_size"), [(15, 16), (16, 16), (3, 16), (16, 6), (4, 4)])
def test_recall_asks_for_the_value_of_a_key_that_was_shown(seq_len: int, vocab_size: int) -> None:
    _, read, asked = drawn(task="recall", seq_len=seq_len, vocab_size=vocab_size)
    n_pairs = (seq_len - 1) // 2
    for symbols, answers in zip(read, asked, strict=True):
        keys, values = symbols[: 2 * n_pairs : 2], symbols[1 : 2 * n_pairs : 2]
        table = dict(zip(keys, values, strict=True))
        assert len(set(zip(keys, values, strict=True))) == len(table), "one value a key"
        assert len(table) == min(n_pairs, vocab_size // 2), "no key twice before all were written"
        assert max(keys) < vocab_size / 2 <= min(values)
        assert set(symbols[2 * n_pairs :]) == {symbols[-1]}
        assert answers == [IGNORE] * (seq_len - 1) + [table[symbols[-1]]]


def test_each_place_is_asked_for_as_often_and_each_value_is_as_common() -> None:
    config, read, asked = drawn(task="recall", seq_len=15, vocab_size=16, batch_size=4096)
    places = Counter(symbols.index(symbols[-1]) // 2 for symbols in read)
    values = Counter(answers[-1] for answers in asked)
    assert set(places) == set(range(7))
    assert set(values) == set(range(8, 16))
    assert max(places.values()) < 1.25 * min(places.values())
    assert max(values.values()) / 4096 == pytest.approx(Data(config).chance(), abs=0.02)
