"""Explanations on models whose right explanation is known beforehand."""

import pytest
import torch

from engine.analysis.measurements.pointing import (
    averaged_attention,
    gradients,
    leave_one_out,
    pointing,
    rollout,
    share_right,
)
from engine.training.result import Trained
from tests.engine.tiny import as_trained


def trained(**settings: object) -> Trained:
    return as_trained(task="lookup", family="encoder", seq_len=6, pos_encoding="nope", **settings)


def test_rollout_is_half_attention_half_identity_and_finds_what_was_fetched_on_the_way() -> None:
    pattern = torch.rand(1, 3, 5, 5).softmax(dim=-1)
    expected = 0.5 * pattern[0] + 0.5 * torch.eye(5)
    assert rollout(pattern).allclose(expected[:, -1])

    # Layer 1 moves token 0 to place 2, layer 2 moves place 2 to the last: token 0 counts, its attention is elsewhere.
    patterns = torch.zeros(2, 1, 4, 4)
    patterns[0, 0, :, 0] = 1.0
    patterns[1, 0, :, 2] = 1.0
    assert rollout(patterns)[0].tolist() == pytest.approx([0.5, 0, 0.25, 0.25])
    assert averaged_attention(patterns)[0].tolist() == [0.5, 0, 0.5, 0]


def test_gradient_times_input_sums_to_the_answer_of_a_linear_model() -> None:
    """Without attention's content (uniform patterns), norm, MLP or bias the answer is linear in what is read."""
    given = trained(norm="none", mlp=False)
    for name, parameter in given.model.named_parameters():
        if name.endswith("bias") or ".attention.q." in name or ".attention.k." in name:
            torch.nn.init.zeros_(parameter)
    batch = given.data.validation_batch(size=16)
    times_input, norm = gradients(given.model, batch)
    logits = given.model(batch.inputs)[:, -1].amax(dim=-1)
    assert times_input.sum(dim=-1).allclose(logits, atol=1e-5)
    assert norm[:, :-1].std(dim=1).max() < 1e-6, "uniform attention treats all pairs alike"


def test_leaving_out_a_token_nobody_reads_changes_nothing() -> None:
    given = trained(n_layers=2)
    for name, parameter in given.model.named_parameters():
        if ".attention.v." in name:
            torch.nn.init.zeros_(parameter)
    fall = leave_one_out(given.model, given.data.validation_batch(size=8))
    assert fall.abs().max() < 1e-5


def test_tops_among_the_pairs_are_counted_the_model_is_left_as_it_was_and_numbers_repeat() -> None:
    score = torch.tensor([[0.1, 0.2, 9.0], [0.3, 0.2, 9.0], [0.3, 0.4, 0.0], [0.9, 0.4, 0.0]])
    assert share_right(score, torch.tensor([1, 0, 0, 1])) == 0.5

    given = trained(n_layers=3, n_heads=4)
    given.model.train()
    before = [p.detach().clone() for p in given.model.parameters()]
    first, second = pointing(given), pointing(given)
    assert first == second
    assert given.model.training
    assert all(p.equal(old) and p.grad is None for p, old in zip(given.model.parameters(), before, strict=True))
    assert first["pointing.best_layer"] >= first["pointing.last"]
    with pytest.raises(ValueError, match="task is sort; allowed"):
        pointing(as_trained(task="sort", family="encoder"))
