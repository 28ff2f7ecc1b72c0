"""Collapse of the tokens, difference of the dense layers, first gradients: against cases whose answer is known."""

from itertools import combinations

import pytest
import torch
from torch.nn.functional import cosine_similarity

from engine.analysis.measurements.depth import (
    dense_difference,
    first_gradients,
    mean_cosine,
    relative_difference,
    relative_residual,
    token_collapse,
)
from engine.runs.events import Progress
from engine.training.train import train
from tests.engine.tiny import as_trained

ONE_BACK = {"task": "k_back", "k": 1}
DEEP = {**ONE_BACK, "seq_len": 12, "d_model": 16, "n_heads": 2, "n_layers": 16}
DENSE = {**ONE_BACK, "d_model": 32, "n_heads": 2, "n_layers": 3}


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
    found = {skips: token_collapse(as_trained(**DEEP, skips=skips)) for skips in (True, False)}
    assert found[False]["token_cosine"] > 0.99
    assert found[True]["token_cosine"] < 0.9
    assert found[False]["token_residual.0"] > 100 * found[False]["token_residual.15"] > 0
    assert found[True]["token_residual"] > 0.1
    assert found[True]["init_token_cosine"] == found[True]["token_cosine"], "this model has not been trained"


def test_shared_blocks_answer_alike_others_do_not_and_a_single_one_has_nothing_to_compare_with() -> None:
    a, b = torch.tensor([3.0, 0.0]), torch.tensor([0.0, 5.0])
    assert [relative_difference(a, other) for other in (a, b, -a)] == pytest.approx([0.0, 1.0, 2**0.5])
    shared = dense_difference(as_trained(**DENSE, share_layers=True))
    assert shared == {"dense_difference": 0.0, "init_dense_difference": 0.0}
    assert dense_difference(as_trained(**DENSE))["dense_difference"] == pytest.approx(1.0, abs=0.1)
    for nothing in ({"n_layers": 1}, {"mlp": False}):
        assert dense_difference(as_trained(**{**DENSE, **nothing})) == {}


def test_first_gradients_are_those_of_the_first_step_and_leave_the_training_as_it_was() -> None:
    case = as_trained(**ONE_BACK, seq_len=8, d_model=8, n_layers=3, steps=1)
    before, state = {name: p.clone() for name, p in case.model.named_parameters()}, case.data.generator.get_state()
    found = first_gradients(case)
    assert all(p.equal(before[name]) and p.grad is None for name, p in case.model.named_parameters())
    assert case.data.generator.get_state().equal(state)
    first = next(event for event in train(case.config) if isinstance(event, Progress))
    assert found["first_grad"] == pytest.approx(first.grad_norm, rel=1e-3)
    assert first.grad_norms is not None
    for part, norm in first.grad_norms.items():
        assert found[f"first_grad.{part}"] == pytest.approx(norm, rel=1e-3), part
    assert found["first_grad.last.q"] == found["first_grad.2.q"]
    block = [norm**2 for part, norm in first.grad_norms.items() if part.startswith("0.")]
    assert found["first_grad.first"] == pytest.approx(sum(block) ** 0.5, rel=1e-3)
