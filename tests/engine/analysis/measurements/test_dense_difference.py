"""Difference of the dense layers: nothing between shared ones, about one between unrelated ones."""

from __future__ import annotations

import pytest
import torch

from engine.analysis.measurements.dense_difference import measure, relative_difference
from engine.analysis.measurements.untrained import untrained
from engine.config.run_config import parse
from engine.training.data import Data
from engine.training.trained import Trained


def measured(**settings: object) -> dict[str, float]:
    config = parse({"task": "k_back", "k": 1, "d_model": 32, "n_heads": 2, "n_layers": 3, "device": "cpu", **settings})
    return measure(Trained(config, untrained(config), Data(config), torch.device("cpu")))


def test_relative_difference_of_equal_orthogonal_and_opposite_answers() -> None:
    a, b = torch.tensor([3.0, 0.0]), torch.tensor([0.0, 5.0])
    assert relative_difference(a, a) == 0.0
    assert relative_difference(a, b) == pytest.approx(1.0)
    assert relative_difference(a, -a) == pytest.approx(2**0.5)


def test_shared_blocks_answer_alike_others_do_not_and_a_single_one_has_nothing_to_compare_with() -> None:
    assert measured(share_layers=True) == {"dense_difference": 0.0, "init_dense_difference": 0.0}
    assert measured()["dense_difference"] == pytest.approx(1.0, abs=0.1)
    assert measured(n_layers=1) == {}
    assert measured(mlp=False) == {}
