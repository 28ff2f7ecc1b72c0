from typing import Any

import pytest
import torch

from engine.analysis.measurements.head_pruning import attentions
from engine.analysis.measurements.sinks import attention_sinks
from engine.training.result import Trained
from tests.engine.tiny import as_trained

LENGTH = 8


def trained(**settings: Any) -> Trained:
    """All scores of the model are 0."""
    given = as_trained(
        task="trigger", seq_len=LENGTH, pos_encoding="nope", n_layers=2, n_heads=2, d_model=16, **settings
    )
    with torch.no_grad():
        for attention in attentions(given.model):
            attention.q.weight.zero_()
    return given


@pytest.mark.parametrize("plus_one", [False, True])
def test_equal_scores_give_the_first_token_as_much_as_any_other_and_with_plus_one_also_nowhere(plus_one: bool) -> None:
    given = trained(softmax_plus_one=plus_one)
    numbers, batch = attention_sinks(given), given.data.validation_batch(size=64)
    silent = batch.targets == given.config.task_settings.nothing
    silent[:, 0] = False
    visible = torch.arange(1, LENGTH + 1).expand_as(silent)
    assert numbers["even_first_weight"] == pytest.approx((1 / visible[silent]).mean().item())
    assert numbers["first_token_weight"] == pytest.approx((1 / (visible + plus_one)[silent]).mean().item())
    assert numbers["nowhere_weight"] == pytest.approx(plus_one * (1 / (visible + 1)[silent]).mean().item(), abs=1e-6)
    has_answer = batch.targets < given.config.task_settings.nothing
    assert numbers["first_token_weight_asked"] == pytest.approx((1 / (visible + plus_one)[has_answer]).mean().item())


def test_answers_count_only_where_there_is_something_to_say() -> None:
    given = trained()
    with torch.no_grad():
        given.model.head.weight.zero_()
        given.model.head.bias.copy_(torch.nn.functional.one_hot(torch.tensor(4), 11))
    batch = given.data.validation_batch(size=64)
    share = (batch.targets == 4).sum() / (batch.targets < 10).sum()
    assert attention_sinks(given)["right_when_asked"] == pytest.approx(share.item())


@pytest.mark.parametrize("settings", [{"task": "copy"}, {"family": "gru", "task": "trigger"}])
def test_a_task_that_always_asks_and_a_model_without_attention_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the task must be trigger"):
        attention_sinks(as_trained(**settings))
