import pytest
import torch

from engine.analysis.measurements.head_pruning import attentions
from engine.analysis.measurements.spreading import answer_weight, scores_times
from engine.estimate.layout import TESTED
from engine.training.evaluation import evaluate
from engine.training.result import Trained
from tests.engine.tiny import as_trained


def trained(**settings: object) -> Trained:
    more = {"n_heads": 4, "pos_encoding": "nope", "n_keys": 32, "test_lengths": (9, 17)}
    return as_trained(task="lookup", family="encoder", seq_len=9, **{**more, **settings})


def test_without_scores_each_position_has_the_same_weight_and_twice_the_length_halves_it() -> None:
    given = trained(n_layers=2)
    for attention in attentions(given.model):
        torch.nn.init.zeros_(attention.q.weight)
        torch.nn.init.zeros_(attention.q.bias)
    numbers = answer_weight(given)
    assert numbers["answer_weight@9"] == pytest.approx(1 / 9)
    assert numbers["answer_weight@17"] == pytest.approx(1 / 17)
    assert numbers.keys() == {f"{name}@{n}" for name in ("answer_weight", "sharpened_accuracy") for n in (9, 17)}


def test_the_head_is_the_one_that_reads_the_answer_at_the_trained_length() -> None:
    """One head compares keys by content; it finds the asked pair at any length, with scores this far apart."""
    given = trained(d_model=48, n_heads=2, d_head=48, norm="none", vocab_size=4)
    rows = given.model.embedding.table.weight  # type: ignore[operator,union-attr]
    attention = attentions(given.model)[0]
    with torch.no_grad():
        rows.zero_()
        rows[:32, :32] = torch.eye(32)  # a row for each key; those of values stay empty
        attention.q.weight.zero_()
        attention.q.weight[48:80, :32] = 200.0 * torch.eye(32)  # the second head
        attention.k.weight.zero_()
        attention.k.weight[48:80, :32] = torch.eye(32)
        for layer in (attention.q, attention.k):
            layer.bias.zero_()
    numbers = answer_weight(given)
    assert numbers["answer_weight@9"] == pytest.approx(0.5), "the asking position has the same key"
    assert numbers["answer_weight@17"] == pytest.approx(0.5)


def test_scores_are_multiplied_inside_the_block_only_and_not_at_all_at_the_trained_length() -> None:
    given = trained()
    inputs = given.data.validation_batch(size=4).inputs
    before, sharp, after = {}, {}, {}
    given.model(inputs, cache=before)
    with scores_times(given.model, 3.0):
        given.model(inputs, cache=sharp)
    given.model(inputs, cache=after)
    name = "encoder.0.self.scores"
    assert sharp[name].allclose(3.0 * before[name], atol=1e-5)
    assert after[name].equal(before[name])
    whole = evaluate(given.model, given.data.validation_batch(9, TESTED))["accuracy"]
    assert answer_weight(given)["sharpened_accuracy@9"] == pytest.approx(whole)


def test_measuring_leaves_the_model_in_its_mode_and_a_task_without_a_true_source_is_refused() -> None:
    given = trained()
    given.model.train()
    assert answer_weight(given) == answer_weight(given)
    assert given.model.training
    with pytest.raises(ValueError, match="task is sort; it must be one with a known true source"):
        answer_weight(as_trained(task="sort", family="encoder"))
