"""Tasks whose answer follows a rule: against slow rules of their own, and what their sequences promise."""

from collections import Counter
from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import shapes
from engine.tasks.base.data import IGNORE
from engine.tasks.permutation.data import permutation
from engine.training.data import Data
from engine.training.snapshot import token_names

SYMBOLS, FURTHEST, N = 7, 3, 16
OFFSETS = {"task": "content_offset", "vocab_size": SYMBOLS, "max_offset": FURTHEST, "seq_len": 9}


def drawn(**settings: Any) -> tuple[RunConfig, list[list[int]], list[list[int]]]:
    config = parse({"batch_size": 500, **settings})
    batch = Data(config).training_batch()
    return config, batch.inputs.tolist(), batch.targets.tolist()


@pytest.mark.parametrize("family", ["decoder", "encoder"])
def test_an_offset_in_the_content_points_at_the_answer(family: str) -> None:
    for read, asked in zip(*drawn(**OFFSETS, family=family)[1:], strict=True):
        pairs = [(token % SYMBOLS, 1 + token // SYMBOLS) for token in read]
        for i, (_, offset) in enumerate(pairs):
            assert asked[i] == (pairs[i - offset][0] if i >= offset else IGNORE)


def test_the_model_reads_pairs_which_occur_alike_and_answers_symbols() -> None:
    config, read, _ = drawn(**OFFSETS, batch_size=4096)
    sizes = shapes(config)
    assert (sizes.n_tokens, sizes.n_outputs) == (SYMBOLS * FURTHEST, SYMBOLS)
    assert token_names(config, [3, 1, SYMBOLS + 4]) == ["3₁", "1₁", "4₂"]
    counts = Counter(token for tokens in read for token in tokens)
    assert [counts[token] / (9 * 4096) for token in range(21)] == pytest.approx([1 / 21] * 21, abs=0.006)


def test_a_run_in_which_batches_ask_for_nothing_is_warned_of() -> None:
    often = {**OFFSETS, "seq_len": 2, "max_offset": 9, "batch_size": 2}
    (warning,) = parse(often).task_settings.warnings(parse(often))
    batches = [drawn(**often, seed=seed)[2] for seed in range(300)]
    nothing = sum({answer for answers in asked for answer in answers} == {IGNORE} for asked in batches)
    assert nothing / 300 == pytest.approx((8 / 9) ** 2, abs=0.07)
    assert "About 79% of the batches ask for nothing" in warning
    assert not list(parse(OFFSETS).task_settings.warnings(parse(OFFSETS)))


def test_a_permutation_is_the_settings_not_the_runs_and_no_single_offset_answers_many_positions() -> None:
    def order(**settings: Any) -> list[int]:
        """The place from which each answer comes."""
        config, read, asked = drawn(task="permutation", seq_len=N, vocab_size=1000, family="encoder", **settings)
        order = permutation(N, config.value("permutation_seed"))
        assert sorted(order) == list(range(N))
        assert asked == [[symbols[place] for place in order] for symbols in read]
        return list(order)

    assert order(seed=0, permutation_seed=1) == order(seed=9, permutation_seed=1) != order(permutation_seed=2)
    # Else a relative encoding had an easy part.
    assert max(Counter(place - i for i, place in enumerate(order())).values()) <= 3


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
