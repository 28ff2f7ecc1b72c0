from typing import Any

import pytest
import torch

from engine.analysis.measurements.head_pruning import attentions
from engine.analysis.measurements.scores import attention_scores, largest_of, spread_of
from engine.training.result import Trained
from tests.engine.tiny import as_trained

BLOCKED = torch.finfo(torch.float32).min / 2


def trained(**settings: Any) -> Trained:
    return as_trained(**{"task": "k_back", "seq_len": 8, "n_layers": 3, "n_heads": 2, "d_model": 16, **settings})


def test_equal_scores_have_the_whole_entropy_and_size_zero_and_one_key_alone_has_none() -> None:
    given = trained()
    first, second, _ = attentions(given.model)
    with torch.no_grad():
        for part in (first.q, second.q):
            part.weight.zero_()
            part.bias.zero_()
        attentions(given.model)[2].q.weight *= 1e4
    numbers = attention_scores(given)
    for layer in (0, 1):
        assert numbers[f"largest_score.{layer}"] == 0.0
        assert numbers[f"attention_entropy.{layer}"] == pytest.approx(1.0)
    assert numbers["attention_entropy.2"] < 0.02
    assert numbers["attention_entropy"] == pytest.approx((2 + numbers["attention_entropy.2"]) / 3)
    assert numbers["largest_score"] == numbers["largest_score.2"] > 1e3


def test_what_a_mask_blocks_counts_neither_as_a_score_nor_as_a_key_and_a_query_with_one_key_not_at_all() -> None:
    scores = torch.tensor([[[[7.0, BLOCKED, BLOCKED], [0.0, 0.0, BLOCKED], [-9.0, -9.0, -9.0]]]])
    assert largest_of(scores).tolist() == [9.0]
    assert spread_of(scores, scores.softmax(-1)) == pytest.approx(1.0)
    scores[..., 2, 0] = 30.0
    assert largest_of(scores).tolist() == [30.0]
    assert spread_of(scores, scores.softmax(-1)) == pytest.approx(0.5, abs=1e-6)


def test_with_qk_norm_no_score_is_larger_than_the_root_of_the_head_width_and_the_model_is_left_as_it_was() -> None:
    numbers = {}
    for qk_norm in (False, True):
        given = trained(qk_norm=qk_norm)
        with torch.no_grad():
            for attention in attentions(given.model):
                attention.q.weight *= 1e3
        given.model.train()
        numbers[qk_norm] = attention_scores(given)
        assert numbers[qk_norm] == attention_scores(given)
        assert given.model.training
    assert numbers[True]["largest_score"] <= 8**0.5 + 1e-4 < numbers[False]["largest_score"]
