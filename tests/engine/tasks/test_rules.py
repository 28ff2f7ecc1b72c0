import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import loss_floor, shapes
from engine.model.build import build_model
from engine.tasks.base.data import IGNORE, task_data
from engine.tasks.cue_majority.data import BLANK, label
from engine.tasks.key_token.data import shortcut_answers
from engine.tasks.lookup import LookupSettings
from engine.tasks.lookup.data import TASK, queried_positions
from engine.tasks.markov.data import draw
from engine.tasks.permutation.data import permutation
from engine.training.data import Data
from engine.training.snapshot import answer_namer, token_names

SYMBOLS, FURTHEST, N = 7, 3, 16
OFFSETS = {"task": "content_offset", "vocab_size": SYMBOLS, "max_offset": FURTHEST, "seq_len": 9}


def draw_batch(**settings: Any) -> tuple[RunConfig, list[list[int]], list[list[int]]]:
    config = parse({"batch_size": 500, **settings})
    batch = Data(config).training_batch()
    return config, batch.inputs.tolist(), batch.targets.tolist()


@pytest.mark.parametrize("family", ["decoder", "encoder"])
def test_an_offset_in_the_content_points_at_the_answer(family: str) -> None:
    for read, answers in zip(*draw_batch(**OFFSETS, family=family)[1:], strict=True):
        pairs = [(token % SYMBOLS, 1 + token // SYMBOLS) for token in read]
        for i, (_, offset) in enumerate(pairs):
            assert answers[i] == (pairs[i - offset][0] if i >= offset else IGNORE)


def test_the_model_reads_pairs_which_occur_alike_and_answers_symbols() -> None:
    config, read, _ = draw_batch(**OFFSETS, batch_size=4096)
    sizes = shapes(config)
    assert (sizes.n_tokens, sizes.n_outputs) == (SYMBOLS * FURTHEST, SYMBOLS)
    assert token_names(config, [3, 1, SYMBOLS + 4]) == ["3₁", "1₁", "4₂"]
    counts = Counter(token for tokens in read for token in tokens)
    assert [counts[token] / (9 * 4096) for token in range(21)] == pytest.approx([1 / 21] * 21, abs=0.006)


def test_a_run_in_which_batches_ask_for_nothing_is_warned_of() -> None:
    often = {**OFFSETS, "seq_len": 2, "max_offset": 9, "batch_size": 2}
    (warning,) = parse(often).task_settings.warnings(parse(often))
    batches = [draw_batch(**often, seed=seed)[2] for seed in range(300)]
    nothing = sum({answer for answers in targets for answer in answers} == {IGNORE} for targets in batches)
    assert nothing / 300 == pytest.approx((8 / 9) ** 2, abs=0.07)
    assert "About 79% of the batches contain no question" in warning
    assert not list(parse(OFFSETS).task_settings.warnings(parse(OFFSETS)))


def test_a_permutation_is_the_settings_not_the_runs_and_no_single_offset_answers_many_positions() -> None:
    def order(**settings: Any) -> list[int]:
        config, read, answers = draw_batch(task="permutation", seq_len=N, vocab_size=1000, family="encoder", **settings)
        order = permutation(N, config.value("permutation_seed"))
        assert sorted(order) == list(range(N))
        assert answers == [[symbols[position] for position in order] for symbols in read]
        return list(order)

    assert order(seed=0, permutation_seed=1) == order(seed=9, permutation_seed=1) != order(permutation_seed=2)
    # Else a relative encoding had an easy part.
    assert max(Counter(position - i for i, position in enumerate(order())).values()) <= 3


@pytest.mark.parametrize("vocab_size", [10, 3])
def test_at_a_trigger_the_answer_is_the_rounded_mean_of_the_numbers_before_it_and_elsewhere_nothing(
    vocab_size: int,
) -> None:
    config, read, targets = draw_batch(task="trigger", seq_len=N, vocab_size=vocab_size)
    start, trigger, nothing = vocab_size, vocab_size + 1, config.task_settings.nothing
    triggers, means = 0, Counter[int]()
    for tokens, answers in zip(read, targets, strict=True):
        assert tokens[0] == start not in tokens[1:]
        assert tokens[1] < vocab_size
        for i, (token, answer) in enumerate(zip(tokens, answers, strict=True)):
            before = [number for number in tokens[:i] if number < vocab_size]
            assert answer == (math.floor(sum(before) / len(before) + 0.5) if token == trigger else nothing)
            triggers += token == trigger
            means[answer] += 1
    assert triggers / (500 * (N - 2)) == pytest.approx(0.25, abs=0.02)
    assert means[nothing] / (500 * N) == pytest.approx(config.task_settings.chance(config), abs=0.02)
    assert set(range(vocab_size)) < means.keys()
    assert token_names(config, [start, 0, trigger]) == ["⊢", "0", "?"]
    assert answer_namer(config)(nothing) == "∅"


@pytest.mark.parametrize("vocab_size", [2, 3])
def test_parity_is_asked_at_the_end_only(vocab_size: int) -> None:
    _, read, targets = draw_batch(task="parity", seq_len=9, vocab_size=vocab_size)
    for symbols, answers in zip(read, targets, strict=True):
        state = 0
        for symbol in symbols:
            state = (state + symbol) % vocab_size
        assert answers == [IGNORE] * 8 + [state]


@pytest.mark.parametrize(("vocab_size", "max_depth"), [(2, 4), (2, 1), (6, 3)])
def test_bracket_depth_follows_an_automaton(vocab_size: int, max_depth: int) -> None:
    _, read, targets = draw_batch(task="dyck", seq_len=12, vocab_size=vocab_size, max_depth=max_depth)
    for symbols, answers in zip(read, targets, strict=True):
        depth, expected = 0, []
        for symbol in symbols:
            if symbol < vocab_size / 2 and depth < max_depth:
                depth += 1
            elif symbol >= vocab_size / 2 and depth > 0:
                depth -= 1
            expected.append(depth)
        assert answers == expected
    assert {depth for answers in targets for depth in answers} == set(range(max_depth + 1))


@pytest.mark.parametrize(("seq_len", "vocab_size"), [(15, 16), (16, 16), (3, 16), (16, 6), (4, 4)])
def test_recall_asks_for_the_value_of_a_key_that_was_shown(seq_len: int, vocab_size: int) -> None:
    _, read, targets = draw_batch(task="recall", seq_len=seq_len, vocab_size=vocab_size)
    n_pairs = (seq_len - 1) // 2
    for symbols, answers in zip(read, targets, strict=True):
        keys, values = symbols[: 2 * n_pairs : 2], symbols[1 : 2 * n_pairs : 2]
        table = dict(zip(keys, values, strict=True))
        assert len(set(zip(keys, values, strict=True))) == len(table), "one value a key"
        assert len(table) == min(n_pairs, vocab_size // 2), "no key twice before all were written"
        assert max(keys) < vocab_size / 2 <= min(values)
        assert set(symbols[2 * n_pairs :]) == {symbols[-1]}
        assert answers == [IGNORE] * (seq_len - 1) + [table[symbols[-1]]]


def test_each_place_is_asked_for_as_often_and_each_value_is_as_common() -> None:
    config, read, targets = draw_batch(task="recall", seq_len=15, vocab_size=16, batch_size=4096)
    counts = Counter(symbols.index(symbols[-1]) // 2 for symbols in read)
    values = Counter(answers[-1] for answers in targets)
    assert set(counts) == set(range(7))
    assert set(values) == set(range(8, 16))
    assert max(counts.values()) < 1.25 * min(counts.values())
    assert max(values.values()) / 4096 == pytest.approx(Data(config).chance(), abs=0.02)


LOOKUP = LookupSettings(vocab_size=4, n_keys=8, lookups=3)


def slow_answer(tokens: list[int], keys: int, values: int, lookups: int) -> int:
    *pairs, query = tokens
    table = {pair // (values + 1): pair % (values + 1) for pair in pairs}
    assert len(table) == len(pairs), "each key occurs once"
    answer = 0
    for step in range(lookups):
        answer = answer * values + table[(query // (values + 1) + step) % keys]
    return answer


@pytest.mark.parametrize("length", [4, 6, 9])
def test_answers_follow_the_slow_rule(length: int) -> None:
    source = TASK.draw(500, length, LOOKUP, torch.Generator().manual_seed(0))
    answers = TASK.answer(source, LOOKUP)
    assert (answers[:, :-1] == IGNORE).all()
    assert answers[:, -1].tolist() == [slow_answer(row, 8, 4, 3) for row in source.tolist()]


def test_every_key_value_place_and_query_occurs() -> None:
    source = TASK.draw(4000, 5, LOOKUP, torch.Generator().manual_seed(0))
    assert set(source[:, :-1].flatten().tolist()) == {key * 5 + value for key in range(8) for value in range(4)}
    assert set(source[:, -1].tolist()) == {key * 5 + 4 for key in range(8)}
    positions = queried_positions(source, LOOKUP)
    for look_up in range(3):
        share = positions[:, look_up].bincount(minlength=4) / len(source)
        assert share.tolist() == pytest.approx([0.25] * 4, abs=0.04), "the asked pair may stand anywhere"


def test_the_true_source_holds_the_asked_key() -> None:
    settings = LookupSettings(vocab_size=4, n_keys=8)
    source = TASK.draw(200, 6, settings, torch.Generator().manual_seed(1))
    found = source.gather(1, TASK.true_source(source, settings)[:, None])[:, 0]
    assert (found // 5).equal(source[:, -1] // 5)
    with pytest.raises(ValueError, match="lookups is 3"):
        TASK.true_source(source, LOOKUP)


def test_tokens_and_answers_have_names_shapes_hold_them_and_a_token_is_key_plus_value() -> None:
    config = parse({"task": "lookup", "seq_len": 4, "vocab_size": 4, "n_keys": 8, "lookups": 2, "family": "encoder"})
    assert token_names(config, [11, 0, 8, 9]) == ["c1", "a0", "b3", "b?"]
    answer = TASK.answer(torch.tensor([[11, 0, 8, 9]]), config.task_settings)
    assert answer.tolist() == [[IGNORE, IGNORE, IGNORE, 13]]
    assert answer_namer(config)(13) == "3 1"

    config = parse({"task": "lookup", "seq_len": 9, "vocab_size": 2, "lookups": 4, "family": "encoder"})
    sizes, batch = shapes(config), Data(config).training_batch()
    assert (sizes.n_tokens, sizes.n_outputs, sizes.length) == (8 + 2 + 1, 16, 9)
    assert int(batch.inputs.max()) < len(config.task_settings.token_parts) == 24

    config = parse({"task": "lookup", "seq_len": 4, "vocab_size": 4, "n_keys": 8, "family": "encoder"})
    model = build_model(config, **shapes(config).of_model)
    vectors, rows = model.embedding(torch.tensor([[11, 9]]))[0], model.embedding.table.weight
    assert vectors.equal(torch.stack([rows[2] + rows[8 + 1], rows[1] + rows[8 + 4]]))


MAJORITY, KEY = {"task": "cue_majority", "family": "encoder"}, {"task": "key_token", "family": "encoder"}


def draw_sequences(flat: dict[str, Any], batch: int, length: int) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """The task's settings, and sequences and answers, [batch, length] each."""
    return read_from(parse(flat).task_settings, str(flat["task"]), batch, length)


def read_from(task_settings: Any, task: str, batch: int, length: int) -> tuple[Any, torch.Tensor, torch.Tensor]:
    source = task_data(task).draw(batch, length, task_settings, torch.Generator().manual_seed(0))
    return task_settings, source, task_data(task).answer(source, task_settings)


def majority(**given: Any) -> Any:
    return parse({**MAJORITY, **given}).task_settings


def cues_and_labels(task_settings: Any) -> tuple[torch.Tensor, torch.Tensor]:
    _, source, _ = read_from(task_settings, "cue_majority", 8000, 12)
    return source[:, 0] - task_settings.vocab_size, label(source, task_settings)


def share(which: torch.Tensor) -> float:
    return which.float().mean().item()


@pytest.mark.parametrize("symbols", [2, 9, 10])
def test_the_last_position_is_asked_for_the_majority(symbols: int) -> None:
    _, source, answers = draw_sequences({**MAJORITY, "vocab_size": symbols}, 200, 8)
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
    _, source, answers = draw_sequences({**KEY, "vocab_size": symbols, "shortcut": rho}, 50, 9)
    assert answers.tolist() == [by_hand(row, symbols) for row in source.tolist()]


@pytest.mark.parametrize("rho", [0.0, 0.25, 0.9, 1.0])
def test_the_shortcut_is_right_as_often_as_it_should_be(rho: float) -> None:
    _, _, answer = draw_sequences({**KEY, "shortcut": rho}, 4000, 16)
    has_answer = answer != IGNORE
    right = (answer == shortcut_answers(16, 4))[has_answer].float().mean().item()
    assert right == pytest.approx(rho, abs=0.01)


def test_without_the_correlation_symbols_and_answers_are_uniform_at_every_position() -> None:
    task_settings = parse({**KEY, "shortcut": 1.0}).task_settings.decorrelated()
    _, source, answer = read_from(task_settings, "key_token", 20_000, 6)
    for position in range(6):
        for values in (source[:, position], answer[:, position]):
            symbols = values[(values >= 0) & (values < 4)]
            assert (symbols.bincount(minlength=4) / len(symbols)).tolist() == pytest.approx([0.25] * 4, abs=0.02)


def test_the_key_stands_anywhere_and_is_any() -> None:
    _, source, _ = draw_sequences({**KEY, "shortcut": 1.0}, 4000, 5)
    positions, keys = (source >= 4).int().argmax(dim=1), source.max(dim=1).values - 4
    assert (positions.bincount() / 4000).tolist() == pytest.approx([0.2] * 5, abs=0.03)
    assert (keys.bincount() / 4000).tolist() == pytest.approx([0.25] * 4, abs=0.03)


@pytest.mark.parametrize("rho", [None, 1.0])
def test_distinct_counts_the_sequences_that_can_be_drawn(rho: float | None) -> None:
    task_settings, source, _ = draw_sequences({**KEY, "vocab_size": 2, "shortcut": rho}, 3000, 3)
    assert len({tuple(row) for row in source.tolist()}) == task_settings.distinct(3) == (24 if rho is None else 6)


def test_a_shortcut_that_leaves_few_sequences_does_not_stop_the_drawing() -> None:
    data = Data(parse({**KEY, "seq_len": 4, "shortcut": 1.0}))
    assert not data.holds_out(4)
    assert len(data.validation_batch().inputs) == 256


MARKOV = parse({"task": "markov", "vocab_size": 4, "seq_len": 8, "dirichlet_alpha": 0.5})


def test_what_is_drawn_follows_the_table_everywhere_and_its_mean_loss_is_the_floor() -> None:
    source = MARKOV.task_settings.source
    rows = draw(20_000, 8, MARKOV.task_settings, torch.Generator().manual_seed(0))
    triples = rows.unfold(1, 3, 1).numpy()  # [sequence, place, three symbols]
    for position in range(6):
        shares = np.zeros_like(source.table)
        np.add.at(shares, tuple(triples[:, position].T), 1 / len(rows))
        assert np.abs(shares - source.pairs[..., None] * source.table).max() < 0.012, position
        assert shares[source.table == 0].sum() == 0
    losses = -np.log(source.table[tuple(triples.reshape(-1, 3).T)])
    assert loss_floor(MARKOV) == pytest.approx(losses.mean(), abs=0.01)
    assert 0 < source.entropy_rate < math.log(4)


def test_the_long_run_is_what_walking_the_table_settles_at() -> None:
    """Against the eigenvector of the chain of pairs, written out as one matrix."""
    source = MARKOV.task_settings.source
    chain = np.einsum("abc,bd->abdc", source.table, np.eye(4)).reshape(16, 16)
    values, vectors = np.linalg.eig(chain.T)
    settled = np.real(vectors[:, np.argmax(np.real(values))])
    assert source.pairs.flatten() == pytest.approx(settled / settled.sum(), abs=1e-8)


def test_chance_is_how_often_the_commonest_symbol_comes_and_what_hardly_varies_holds_nothing_out() -> None:
    data = Data(MARKOV)
    targets = data.validation_batch(size=20_000).targets
    answers = targets[targets != IGNORE]
    assert data.chance() == pytest.approx(answers.bincount().max().item() / len(answers), abs=0.02)
    assert not Data(parse({"task": "markov", "vocab_size": 2, "dirichlet_alpha": 0.01})).holds_out(16)


def test_the_source_is_one_for_all_seeds_and_another_by_its_own_setting() -> None:
    same, other = MARKOV.replace(seed=5), MARKOV.replace(source_seed=1)
    assert same.task_settings.source is MARKOV.task_settings.source
    assert not np.allclose(other.task_settings.source.table, MARKOV.task_settings.source.table)
    assert not Data(same).training_batch().inputs.equal(Data(MARKOV).training_batch().inputs)
