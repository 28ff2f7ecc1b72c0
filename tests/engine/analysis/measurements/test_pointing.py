import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from engine.analysis.measurements import head_pruning as pruning
from engine.analysis.measurements import pointing as points
from engine.analysis.measurements.head_pruning import attentions, gated, head_pruning, importance
from engine.analysis.measurements.pointing import (
    answering_head_attention,
    answers_after,
    best_layer,
    block_calls,
    flow_through,
    gradients,
    pointing,
    same_answer_permuted,
    with_last_answer,
)
from engine.model.activations import in_mode
from engine.tasks.base.data import IGNORE
from engine.training.result import Trained
from tests.engine.tiny import TODAY, as_trained


def trained(**settings: object) -> Trained:
    return as_trained(task="lookup", family="encoder", seq_len=6, pos_encoding="nope", **settings)


def test_rollout_is_half_attention_half_identity_and_finds_what_was_fetched_on_the_way() -> None:
    pattern = torch.rand(1, 3, 5, 5).softmax(dim=-1)
    expected = 0.5 * pattern[0] + 0.5 * torch.eye(5)
    assert flow_through(pattern)[-1].allclose(expected)

    # Layer 1 moves token 0 to place 2, layer 2 moves place 2 to the last: token 0 counts, its attention is elsewhere.
    patterns = torch.zeros(2, 1, 4, 4)
    patterns[0, 0, :, 0] = 1.0
    patterns[1, 0, :, 2] = 1.0
    assert flow_through(patterns)[-1, 0, -1].tolist() == pytest.approx([0.5, 0, 0.25, 0.25])


def test_gradient_times_input_sums_to_the_answer_of_a_linear_model() -> None:
    """Without attention's content (uniform patterns), norm, MLP or bias the answer is linear in the input."""
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
    fall = points.leave_one_out(given.model, given.data.validation_batch(size=8))
    assert fall.abs().max() < 1e-5


def test_tops_among_the_pairs_are_counted_the_model_is_left_as_it_was_and_numbers_repeat() -> None:
    score = torch.tensor([[0.1, 0.2, 9.0], [0.3, 0.2, 9.0], [0.3, 0.4, 0.0], [0.9, 0.4, 0.0]])
    assert points.share_right(score, torch.tensor([1, 0, 0, 1])) == 0.5

    given = trained(n_layers=3, n_heads=4)
    given.model.train()
    before = [p.detach().clone() for p in given.model.parameters()]
    first, second = pointing(given), pointing(given)
    assert first == second
    assert given.model.training
    assert all(p.equal(old) and p.grad is None for p, old in zip(given.model.parameters(), before, strict=True))
    with pytest.raises(ValueError, match="task is sort; it must be"):
        pointing(as_trained(task="sort", family="encoder"))


def test_of_hops_only_the_sequences_whose_last_position_has_an_answer_are_scored() -> None:
    given = as_trained(task="hops", vocab_size=6, seq_len=6, n_layers=2, pos_encoding="rope")
    batch = given.data.validation_batch(size=200)
    has_answer = batch.targets[:, -1] != IGNORE
    scored, true = with_last_answer(given.config, batch)
    assert 0 < len(scored.inputs) == int(has_answer.sum()) < 200
    assert scored.inputs.equal(batch.inputs[has_answer])
    assert scored.inputs.gather(1, true[:, None])[:, 0].equal(scored.targets[:, -1])
    numbers = pointing(given)
    assert {"pointing.layer.0", "pointing.layer.1"} <= numbers.keys()
    assert numbers["pointing.layer.1"] == numbers["pointing.last"]
    assert numbers["pointing.best_layer"] in (numbers["pointing.layer.0"], numbers["pointing.layer.1"])


def test_the_head_that_brings_the_answer_is_the_only_one_that_adds_anything() -> None:
    """All but one head add nothing, and that one so much that the predicted answer is its own."""
    given = as_trained(task="hops", vocab_size=6, seq_len=8, n_layers=3, n_heads=4, pos_encoding="rope", mlp=False)
    with torch.no_grad():
        for layer, attention in enumerate(attentions(given.model)):
            columns = attention.out.weight[:, 16:24].clone() if layer == 1 else 0.0
            attention.out.weight.zero_()
            attention.out.bias.zero_()
            attention.out.weight[:, 16:24] = 1000.0 * columns
        given.model.head.bias.zero_()  # type: ignore[operator,union-attr]
        batch, cache = given.data.validation_batch(size=16), {}
        given.model(batch.inputs, cache=cache)
    assert answering_head_attention(given.model, batch).equal(cache["decoder.1.self.pattern"][:, 2, -1])


def test_in_parts_each_sequence_is_scored_as_in_the_whole_batch() -> None:
    given = as_trained(task="hops", vocab_size=6, seq_len=8, n_layers=2, n_heads=2, pos_encoding="rope")
    batch = given.data.validation_batch(size=points.SEQUENCES_IN_A_PASS + 9)
    ways: dict[Callable[..., torch.Tensor], int] = {
        points.patterns_of: 1, gradients: 1, points.leave_one_out: 0, answering_head_attention: 0, same_answer_permuted: 0,
    }  # fmt: skip
    with in_mode(given.model, training=False):
        for way, dim in ways.items():
            whole = way(given.model, batch)
            assert points.in_parts(batch, partial(way, given.model), dim=dim).allclose(whole, atol=1e-5), way
            assert whole.size(dim) == points.SEQUENCES_IN_A_PASS + 9


def test_the_best_layer_points_at_the_source_most_often() -> None:
    patterns = torch.zeros(2, 4, 3, 3)  # [layer, batch, query, key]
    patterns[:, :, -1, 1] = 0.5
    patterns[0, [0, 1, 2], -1, 0] = 1.0
    patterns[1, [1, 3], -1, 0] = 1.0
    assert (best_layer(patterns, torch.zeros(4)), best_layer(patterns, torch.ones(4))) == (0, 1)


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("settings", [{}, TODAY], ids=["", "today"])
def test_the_last_blocks_by_themselves_give_the_models_answers(settings: dict[str, Any], layer: int) -> None:
    given = trained(n_heads=4, n_layers=2, **settings)
    batch = given.data.validation_batch(size=64)
    with torch.no_grad():
        answers = answers_after(given.model, block_calls(given.model, batch)[layer:])
        assert answers.equal(given.model(batch.inputs)[:, -1].argmax(dim=-1))


def test_the_answer_stays_under_permuted_attention_only_where_attention_says_nothing() -> None:
    given = trained(n_heads=4, n_layers=2)
    batch = given.data.validation_batch(size=64)
    before = given.model(batch.inputs)
    with torch.no_grad():
        for attention in attentions(given.model):
            attention.q.weight *= 30.0  # now each head looks at one place
    assert same_answer_permuted(given.model, batch).mean() < 0.9
    assert not given.model(batch.inputs).equal(before)
    after = given.model(batch.inputs)
    with torch.no_grad():
        attentions(given.model)[-1].q.weight.zero_()
        attentions(given.model)[-1].q.bias.zero_()
    assert same_answer_permuted(given.model, batch).mean() == 1.0, "equal weights are the same in any order"
    assert same_answer_permuted(given.model, batch, 0).mean() < 0.9, "those of the first layer are not"
    assert not after.equal(given.model(batch.inputs))


def test_a_gate_of_zero_is_a_head_whose_output_columns_are_zero() -> None:
    given = trained(n_heads=4, n_layers=2)
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
    given = trained(n_heads=4, n_layers=2)
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
    given = trained(n_heads=4)
    with torch.no_grad():
        attentions(given.model)[0].out.weight[:, 8:16] = 0.0
    batch = given.data.validation_batch(size=64)
    scores = importance(given.model, batch).flatten()
    assert scores.argmin().item() == 1
    whole, without, by_hand = (pruning.accuracy_without(given.model, batch, heads) for heads in ((), (1,), (0, 2, 3)))
    assert whole == without
    with torch.no_grad():
        attentions(given.model)[0].out.weight.zero_()
    assert pruning.accuracy_without(given.model, batch, ()) == by_hand


def test_measuring_leaves_the_model_as_it_was_also_where_a_pass_raises() -> None:
    given = trained(n_heads=4, n_layers=2)
    inputs = given.data.validation_batch(size=4).inputs
    before = given.model(inputs)
    assert head_pruning(given) == head_pruning(given)
    assert given.model(inputs).equal(before)

    batch = given.data.validation_batch(size=4)
    with pytest.raises(IndexError):
        importance(given.model, replace(batch, inputs=batch.inputs + 1000))
    pickle.dumps([attention.out for attention in attentions(given.model)])  # a hook that stayed could not be written
