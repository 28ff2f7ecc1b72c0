"""Head pruning on models in which it is known which heads matter."""

import pickle
from dataclasses import replace

import pytest
import torch

from engine.analysis.measurements.head_pruning import (
    accuracy_along,
    attentions,
    gated,
    head_pruning,
    importance,
    removable,
)
from engine.training.result import Trained
from tests.engine.tiny import as_trained


def trained(n_layers: int = 2) -> Trained:
    return as_trained(task="lookup", family="encoder", n_heads=4, n_layers=n_layers, pos_encoding="nope")


def test_a_gate_of_zero_is_a_head_whose_output_columns_are_zero() -> None:
    given = trained()
    inputs = given.data.validation_batch(size=8).inputs
    gates = torch.ones(2, 4)
    gates[1, 2] = 0.0
    with gated(given.model, gates):
        pruned = given.model(inputs)
    whole = given.model(inputs)
    with torch.no_grad():
        attentions(given.model)[1].out.weight[:, 16:24] = 0.0
    assert given.model(inputs).allclose(pruned, atol=1e-6)
    assert not whole.allclose(pruned, atol=1e-3)


def test_importance_is_the_slope_of_the_loss_along_a_gate() -> None:
    given = trained()
    batch = given.data.validation_batch(size=1)
    scores = importance(given.model, batch)
    slopes = torch.zeros(2, 4)
    for layer, head in [(0, 1), (0, 3), (1, 0), (1, 2)]:
        losses = []
        for change in (-1e-2, 1e-2):
            gates = torch.ones(2, 4)
            gates[layer, head] += change
            with gated(given.model, gates):
                logits = given.model(batch.inputs)[:, -1].double()
            losses.append(torch.nn.functional.cross_entropy(logits, batch.targets[:, -1]).item())
        slopes[layer, head] = abs(losses[1] - losses[0]) / 2e-2
    assert (slopes[0, 1] / slopes[0, 3]).item() == pytest.approx((scores[0, 1] / scores[0, 3]).item(), rel=0.05)
    assert (slopes[1, 0] / slopes[1, 2]).item() == pytest.approx((scores[1, 0] / scores[1, 2]).item(), rel=0.05)


def test_a_dead_head_is_the_first_to_go_and_costs_nothing() -> None:
    given = trained(n_layers=1)
    with torch.no_grad():
        attentions(given.model)[0].out.weight[:, 8:16] = 0.0
    batch = given.data.validation_batch(size=64)
    scores = importance(given.model, batch).flatten()
    assert scores.argmin().item() == 1
    curve = accuracy_along(given.model, batch, scores.argsort().tolist())
    assert len(curve) == 5
    assert curve[1] == curve[0]


@pytest.mark.parametrize(
    ("curve", "share"), [([1.0, 1.0, 0.995, 0.5, 1.0], 0.5), ([0.9, 0.5, 0.9], 0.0), ([0.3, 0.3, 0.4], 1.0)]
)
def test_removable_ends_at_the_first_cost(curve: list[float], share: float) -> None:
    assert removable(curve) == share


def test_measuring_leaves_the_model_as_it_was_also_where_a_pass_raises() -> None:
    given = trained()
    inputs = given.data.validation_batch(size=4).inputs
    before = given.model(inputs)
    assert head_pruning(given) == head_pruning(given)
    assert given.model(inputs).equal(before)

    batch = given.data.validation_batch(size=4)
    with pytest.raises(IndexError):
        importance(given.model, replace(batch, inputs=batch.inputs + 1000))
    pickle.dumps([attention.out for attention in attentions(given.model)])  # a hook that stayed could not be written
