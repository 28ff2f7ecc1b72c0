"""The Markov task: what is drawn follows the table, and nothing beats the floor that is said of it."""

import math

import numpy as np
import pytest
import torch

from engine.config.run_config import parse
from engine.estimate.layout import loss_floor
from engine.tasks.base.data import IGNORE
from engine.tasks.markov.data import draw
from engine.training.data import Data

SMALL = parse({"task": "markov", "vocab_size": 4, "seq_len": 8, "dirichlet_alpha": 0.5})


def test_what_is_drawn_follows_the_table_everywhere_and_its_mean_loss_is_the_floor() -> None:
    source = SMALL.task_settings.source
    rows = draw(20_000, 8, SMALL.task_settings, torch.Generator().manual_seed(0))
    triples = rows.unfold(1, 3, 1).numpy()  # [sequence, place, three symbols]
    for place in range(6):
        shares = np.zeros_like(source.table)
        np.add.at(shares, tuple(triples[:, place].T), 1 / len(rows))
        assert np.abs(shares - source.pairs[..., None] * source.table).max() < 0.012, place
        assert shares[source.table == 0].sum() == 0
    losses = -np.log(source.table[tuple(triples.reshape(-1, 3).T)])
    assert loss_floor(SMALL) == pytest.approx(losses.mean(), abs=0.01)
    assert 0 < source.entropy_rate < math.log(4)


def test_the_long_run_is_what_walking_the_table_settles_at() -> None:
    """Against the eigenvector of the chain of pairs, written out as one matrix."""
    source = SMALL.task_settings.source
    chain = np.einsum("abc,bd->abdc", source.table, np.eye(4)).reshape(16, 16)
    values, vectors = np.linalg.eig(chain.T)
    settled = np.real(vectors[:, np.argmax(np.real(values))])
    assert source.pairs.flatten() == pytest.approx(settled / settled.sum(), abs=1e-8)


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
