"""Neighbours' cosine: a sinusoid's is the same at every length; squeezed positions agree with their table."""

from __future__ import annotations

import pytest
import torch

from engine.analysis.measurements.neighbour_cosine import LENGTHS, SQUEEZED, measure
from engine.config.run_config import parse
from engine.training.data import Data
from engine.training.train import prepare
from engine.training.trained import Trained


def measured(encoding: str) -> dict[str, float]:
    config = parse({"task": "k_back", "seq_len": 8, "pos_encoding": encoding, "d_model": 32})
    return measure(Trained(config, prepare(config), Data(config), torch.device("cpu")))


def test_a_sinusoid_looks_the_same_at_every_length_and_squeezed_positions_agree_with_their_table() -> None:
    found = measured("sinusoidal")
    frequencies = 10_000.0 ** -(torch.arange(16).double() / 16)
    for n in LENGTHS:
        assert found[f"neighbour_cosine@{n}"] == pytest.approx(frequencies.cos().mean().item(), abs=1e-6)
        places = torch.arange(n) * SQUEEZED / n
        angles = places[:, None] * frequencies
        rows = torch.cat([angles.sin(), angles.cos()], 1)
        cosines = torch.cosine_similarity(rows[1:], rows[:-1])
        assert found[f"squeezed_cosine@{n}"] == pytest.approx(cosines.mean().item(), abs=1e-9)


def test_without_an_encoding_all_look_alike_and_a_table_is_measured_as_far_as_it_has_rows() -> None:
    assert measured("nope") == {f"neighbour_cosine@{n}": 1.0 for n in LENGTHS}
    assert set(measured("learned")) == {"neighbour_cosine@8"}
