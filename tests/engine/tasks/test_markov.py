"""The Markov task: what is drawn follows the table, and nothing beats the floor that is said of it."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch

from engine.config.run_config import parse
from engine.estimate.layout import loss_floor
from engine.tasks.base.data import IGNORE
from engine.tasks.markov.data import draw
from engine.training.data import Data

SMALL = parse({"task": "markov", "vocab_size": 4, "seq_len": 8, "dirichlet_alpha": 0.5})


def drawn(count: int) -> torch.Tensor:
    return draw(count, 8, SMALL.task_settings, torch.Generator().manual_seed(0))


def test_what_follows_two_symbols_follows_the_table() -> None:
    table = SMALL.task_settings.source.table
    counts = np.zeros_like(table)
    for row in drawn(4000).tolist():
        for first, second, following in zip(row, row[1:], row[2:], strict=False):
            counts[first, second, following] += 1
    seen = counts.sum(axis=2)
    often = seen > 400
    assert often.sum() >= 8
    assert np.abs(counts[often] / seen[often][:, None] - table[often]).max() < 0.1
    assert counts[table == 0].sum() == 0


def test_pairs_are_as_common_at_the_end_as_at_the_start() -> None:
    source = SMALL.task_settings.source
    rows = drawn(20_000)
    for place in (0, 6):
        counted = Counter(map(tuple, rows[:, place : place + 2].tolist()))
        for (first, second), count in counted.items():
            assert count / 20_000 == pytest.approx(source.pairs[first, second], abs=0.015)


def test_the_long_run_is_what_walking_the_table_settles_at() -> None:
    """Against the eigenvector of the chain of pairs, written out as one matrix."""
    source, v = SMALL.task_settings.source, 4
    chain = np.zeros((v * v, v * v))
    for a in range(v):
        for b in range(v):
            for c in range(v):
                chain[a * v + b, b * v + c] = source.table[a, b, c]
    values, vectors = np.linalg.eig(chain.T)
    settled = np.real(vectors[:, np.argmax(np.real(values))])
    assert source.pairs.flatten() == pytest.approx(settled / settled.sum(), abs=1e-8)


def test_the_floor_is_the_loss_of_the_model_that_knows_the_table() -> None:
    source = SMALL.task_settings.source
    rows = drawn(20_000).tolist()
    losses = [
        -math.log(source.table[a, b, c]) for row in rows for (a, b), c in zip(pairwise(row), row[2:], strict=False)
    ]
    assert loss_floor(SMALL) == pytest.approx(np.mean(losses), abs=0.01)
    assert 0 < source.entropy_rate < math.log(4)


def test_chance_is_how_often_the_commonest_symbol_comes_and_what_hardly_varies_holds_nothing_out() -> None:
    data = Data(SMALL)
    targets = data.validation_batch(size=20_000).targets
    asked = targets[targets != IGNORE]
    assert data.chance() == pytest.approx(asked.bincount().max().item() / len(asked), abs=0.02)
    assert not Data(parse({"task": "markov", "vocab_size": 2, "dirichlet_alpha": 0.01})).holds_out(16)


def test_the_source_is_one_for_all_seeds_and_another_by_its_own_setting() -> None:
    same, other = SMALL.replace(seed=5), SMALL.replace(source_seed=1)
    assert same.task_settings.source is SMALL.task_settings.source
    assert not np.allclose(other.task_settings.source.table, SMALL.task_settings.source.table)
    assert not Data(same).training_batch().inputs.equal(Data(SMALL).training_batch().inputs)
