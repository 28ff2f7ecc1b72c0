"""The pieces of long work: documented experiments stay whole, and a long pass is cut."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config.run_config import RunConfig, parse
from engine.estimate.layout import TESTED, generation_size, validation_size
from engine.estimate.pieces import PIECE_BYTES, PIECE_FLOPS, forward_flops, pass_bytes, pieces, rows_at_once, writes_out
from engine.experiments.issues import ISSUES
from tests.golden.cases import configs


def passes(config: RunConfig) -> list[tuple[int, int]]:
    """The lengths and the numbers of sequences of a run's passes without gradient."""
    n = config.seq_len
    return [(n, validation_size(n)), (n, generation_size(n)), *((length, TESTED) for length in config.test_lengths)]


@pytest.mark.parametrize("slug", ISSUES)
def test_what_documented_experiments_compare_of_trained_models_stays_whole(slug: str) -> None:
    for arm in ISSUES[slug].arms:
        if arm.alone:  # bytes and times, of one step
            continue
        config = ISSUES[slug].config(arm)
        for n, rows in passes(config):
            assert rows_at_once(config, n, rows) == rows, (arm.name, n)


def test_what_the_golden_record_holds_stays_whole() -> None:
    for flat in configs().values():
        config = parse(flat)
        assert all(rows_at_once(config, n, rows) == rows for n, rows in passes(config))


@pytest.mark.parametrize(
    "flat",
    [
        {"seq_len": 400, "d_model": 64, "n_layers": 4, "n_heads": 4},
        {"seq_len": 64, "d_model": 64, "n_heads": 64},
        {"family": "cnn", "seq_len": 128, "d_model": 512},
    ],
)
def test_a_long_pass_is_cut(flat: dict[str, Any]) -> None:
    config = parse({"task": "k_back", **flat})
    at_once = rows_at_once(config, config.seq_len, TESTED)
    assert 1 <= at_once < TESTED
    assert at_once == 1 or at_once * forward_flops(config, config.seq_len) <= PIECE_FLOPS


@pytest.mark.parametrize(
    "flat",
    [
        {"seq_len": 128, "d_model": 24, "n_heads": 4, "attention_impl": "materialised"},
        {"seq_len": 32, "d_model": 256, "n_layers": 2, "n_heads": 4},
        {"task": "shakespeare_words", "vocab_size": 3000, "seq_len": 16, "d_model": 64, "n_layers": 2},
    ],
    ids=["matrices", "width", "logits"],
)
def test_a_pass_over_large_tensors_is_cut(flat: dict[str, Any]) -> None:
    config = parse({"task": "k_back", **flat})
    rows = validation_size(config.seq_len)
    at_once = rows_at_once(config, config.seq_len, rows)
    assert 1 < at_once < rows
    held = pass_bytes(config, at_once, config.seq_len, written_out=writes_out(config))
    assert held <= PIECE_BYTES < pass_bytes(config, rows, config.seq_len, written_out=writes_out(config)) / 2


def test_the_size_of_the_training_batch_changes_no_piece() -> None:
    small, large = (parse({"task": "k_back", "seq_len": 400, "d_model": 64, "batch_size": size}) for size in (1, 64))
    assert rows_at_once(small, 400, TESTED) == rows_at_once(large, 400, TESTED)


@pytest.mark.parametrize(("rows", "at_once"), [(10, 3), (9, 3), (1, 5), (4, 4)])
def test_pieces_cover_each_row_once(rows: int, at_once: int) -> None:
    found = [row for piece in pieces(rows, at_once) for row in range(rows)[piece]]
    assert found == list(range(rows))
    assert all(piece.stop - piece.start <= at_once for piece in pieces(rows, at_once))
