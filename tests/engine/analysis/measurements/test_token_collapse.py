"""Collapse of the tokens against cases with a known answer."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from torch.nn.functional import cosine_similarity

from engine.analysis.measurements.token_collapse import mean_cosine, measure, relative_residual
from engine.analysis.measurements.untrained import untrained
from engine.config.run_config import parse
from engine.training.data import Data
from engine.training.trained import Trained

DEEP = {"task": "k_back", "k": 1, "seq_len": 12, "d_model": 16, "n_heads": 2, "n_layers": 16}


def test_cosine_and_residual_of_equal_orthogonal_opposite_and_random_tokens() -> None:
    tokens = torch.randn(3, 1, 8, generator=torch.Generator().manual_seed(0)).expand(3, 5, 8).double()
    assert mean_cosine(tokens) == pytest.approx(1.0)
    assert relative_residual(tokens) == pytest.approx(0.0, abs=1e-12)

    assert mean_cosine(torch.eye(6).unsqueeze(0)) == pytest.approx(0.0, abs=1e-6)

    tokens = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(1))
    pairs = [cosine_similarity(tokens[0, i], tokens[0, j], dim=0).item() for i, j in combinations(range(5), 2)]
    assert mean_cosine(tokens) == pytest.approx(sum(pairs) / len(pairs), abs=1e-6)

    token = torch.tensor([1.0, 2.0, -1.0])
    tokens = torch.stack([token, -token]).unsqueeze(0)
    assert relative_residual(tokens) == pytest.approx(1.0)
    assert relative_residual(7 * tokens) == pytest.approx(1.0)


def test_a_deep_stack_without_skips_collapses_and_one_with_them_does_not() -> None:
    found = {}
    for skips in (True, False):
        config = parse({**DEEP, "skips": skips, "device": "cpu"})
        model = untrained(config)
        found[skips] = measure(Trained(config, model, Data(config), torch.device("cpu")))
    assert found[False]["token_cosine"] > 0.99
    assert found[True]["token_cosine"] < 0.9
    assert found[False]["token_residual.0"] > 100 * found[False]["token_residual.15"] > 0
    assert found[True]["token_residual"] > 0.1
    assert found[True]["init_token_cosine"] == found[True]["token_cosine"], "this model has not been trained"
