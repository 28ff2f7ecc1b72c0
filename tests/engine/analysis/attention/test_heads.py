from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.analysis.attention.changes import each_head_off, other_scores, switch_heads_off, tempered
from engine.analysis.attention.heads import NONE, entropy, heads, kind_scores, mean_distance, name_of
from engine.analysis.attention.model import held_out, model_of, run_with_cache
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import ModelRequest, SampleRequest
from tests.engine.tiny import TODAY, tiny_config

LENGTH = 9
CAUSAL = torch.ones(1, LENGTH, LENGTH).tril().bool()
ALL = torch.ones_like(CAUSAL)
MODEL = ModelRequest(tiny_config(seq_len=4))
HEAD = Part("head", "self", 1, 3)


def fixed(offset: int) -> torch.Tensor:
    """Every query looks ``offset`` keys further on, as far as there are any, else at itself."""
    positions = torch.arange(LENGTH)
    target = positions + offset
    return torch.eye(LENGTH)[torch.where((target >= 0) & (target < LENGTH), target, positions)][None]


@pytest.mark.parametrize(
    ("pattern", "visible", "name"),
    [
        (fixed(-1), CAUSAL, "previous token"),
        (fixed(0), CAUSAL, "same place"),
        (fixed(1), ALL, "next token"),
        (fixed(-3), CAUSAL, "3 back"),
        (torch.eye(LENGTH)[torch.zeros(LENGTH, dtype=torch.long)][None], CAUSAL, "first token"),
        (torch.eye(LENGTH).flip(0)[None], ALL, "mirrored"),
        (CAUSAL / CAUSAL.sum(-1, keepdim=True), CAUSAL, "uniform"),
    ],
)
def test_a_head_that_does_one_thing_is_called_by_it(pattern: torch.Tensor, visible: torch.Tensor, name: str) -> None:
    scores = kind_scores(pattern.float(), visible)
    assert (name_of(scores), scores[name]) == (name, pytest.approx(1.0, abs=1e-5))


def test_a_head_that_reads_what_followed_its_own_symbol_is_an_induction_head() -> None:
    tokens = torch.tensor([[3, 1, 4, 1, 5, 3, 4, 1, 3]])
    read = [0, 0, 0, 2, 0, 1, 3, 4, 6]  # a symbol after the last earlier place of the query's own, else the first
    scores = kind_scores(torch.eye(LENGTH)[read][None], CAUSAL, tokens)
    assert (name_of(scores), scores["induction"]) == ("induction", pytest.approx(1.0, abs=1e-5))
    even = kind_scores(CAUSAL / CAUSAL.sum(-1, keepdim=True), CAUSAL, tokens)
    assert even["induction"] == pytest.approx(0.0, abs=1e-6), "where two cells are right, chance is twice as high"
    assert "induction" not in kind_scores(torch.eye(LENGTH)[read][None], CAUSAL), "keys of another stack"


def test_scores_are_measured_against_chance_and_entropy_and_distance_are_means() -> None:
    even = kind_scores(CAUSAL / CAUSAL.sum(-1, keepdim=True), CAUSAL)
    assert all(abs(score) < 1e-6 for name, score in even.items() if name != "uniform"), "uniform attention is chance"
    drawn = torch.distributions.Dirichlet(torch.ones(LENGTH)).sample((20_000, LENGTH))
    assert kind_scores(drawn, ALL.expand(len(drawn), -1, -1))["uniform"] == pytest.approx(0.0, abs=0.01)
    assert name_of(kind_scores(drawn[:64], ALL.expand(64, -1, -1))) == NONE

    flat = torch.full((2, 8), 1 / 8)
    assert entropy(flat).exp().tolist() == pytest.approx([8.0, 8.0])
    assert mean_distance(flat, torch.tensor([0, 7]), torch.arange(8)).tolist() == pytest.approx([3.5, 3.5])


def test_with_softmax_plus_one_entropy_and_distance_are_of_what_is_read_and_the_rest_is_nowhere() -> None:
    """Equal scores: a query of n visible keys gives each 1 / (n + 1), as evenly as softmax would."""
    rows = {}
    for plus_one in (False, True):
        request = ModelRequest(tiny_config(seq_len=4, pos_encoding="nope", softmax_plus_one=plus_one))
        attention = model_of(request).stack.blocks[0].attention
        with torch.no_grad():
            attention.q.weight.zero_()
        rows[plus_one] = heads(request, SampleRequest())["rows"][0]
    for number in ("entropy", "distance", "effective_keys"):
        assert rows[True][number] == pytest.approx(rows[False][number])
    assert "nowhere" not in rows[False]["scores"]
    assert rows[True]["scores"]["nowhere"] == pytest.approx(sum(1 / (n + 1) for n in range(1, 8)) / 7)


def test_every_head_of_every_kind_has_a_row() -> None:
    config = tiny_config(family="encoder_decoder", seq_len=6)
    result = heads(ModelRequest(config), SampleRequest())
    assert len(result["rows"]) == 3 * 2 * 4
    shapes = dict.fromkeys(("self", "encoder", "cross"), (2, 4, 6, 6))
    assert {which: pattern.shape for which, pattern in result["patterns"].items()} == shapes
    assert result["rollout"]["self"]["flow"].sum(-1) == pytest.approx(np.ones((2, 6)), abs=1e-5)


def test_without_skip_connections_the_roll_out_of_one_layer_is_its_attention() -> None:
    for skips in (True, False):
        roll_out = heads(ModelRequest(tiny_config(n_layers=1, skips=skips, seq_len=4)), SampleRequest())["rollout"][
            "self"
        ]
        itself = np.eye(roll_out["mean"].shape[-1])
        expected = (roll_out["mean"] + itself) / 2 if skips else roll_out["mean"]
        assert roll_out["flow"] == pytest.approx(expected, abs=1e-6)


def test_a_head_switched_off_has_the_numbers_of_its_row_and_its_pattern_stays() -> None:
    rows = each_head_off(MODEL)["rows"]
    assert (len(rows), rows[-1]["part"]) == (8, HEAD)
    result = switch_heads_off(MODEL, SampleRequest(), HEAD, [HEAD], 1.0)
    assert result["after"]["metrics"] == pytest.approx({k: v for k, v in rows[-1].items() if k != "part"})
    assert np.array_equal(result["before"]["pattern"], result["after"]["pattern"]), (
        "the pattern is made before the gate"
    )


def test_temperature_flattens_and_sharpens_and_leaves_the_model_as_it_was() -> None:
    model = model_of(MODEL)
    before = run_with_cache(model, held_out(MODEL.config))[0]
    found = [switch_heads_off(MODEL, SampleRequest(), HEAD, [], temperature) for temperature in (0.05, 1.0, 20.0)]
    entropies = [result["after"]["entropy"] for result in found]
    assert entropies == sorted(entropies)
    hot = switch_heads_off(MODEL, SampleRequest(), HEAD, [], 1e6)["after"]["pattern"]
    assert hot[-1] == pytest.approx(np.full(7, 1 / 7), abs=1e-5)
    with tempered(model, 1.0):
        assert torch.equal(run_with_cache(model, held_out(MODEL.config))[0], before)
    assert torch.equal(run_with_cache(model, held_out(MODEL.config))[0], before)


def test_an_answer_does_not_depend_on_what_was_asked_before() -> None:
    """Comparing scores sets the weights of an additive score in a copy, not in the model that all questions share."""
    changes = (("attention_score", "additive"), ("attention_impl", "materialised"))
    shared = model_of(replace(MODEL, changes=changes))
    before = run_with_cache(shared, held_out(MODEL.config))[0]
    other_scores(MODEL, SampleRequest(), HEAD)
    assert torch.equal(run_with_cache(shared, held_out(MODEL.config))[0], before)


def test_the_models_own_way_to_compare_is_among_the_four() -> None:
    for score, impl, others in (
        ("scaled_dot", "fused", {}),
        ("scaled_dot", "fused", {"qk_norm": True}),
        ("scaled_dot", "fused", TODAY),
        ("scaled_dot", "fused", {"softmax_plus_one": True, "attention_gate": True}),
        ("additive", "materialised", {}),
    ):
        config = tiny_config(seq_len=4, attention_score=score, attention_impl=impl, **others)
        request = ModelRequest(config)
        found = other_scores(request, SampleRequest(), HEAD)
        before = switch_heads_off(request, SampleRequest(), HEAD, [], 1.0)["before"]
        assert found[score]["pattern"] == pytest.approx(before["pattern"], abs=1e-6)
        assert found[score]["metrics"] == pytest.approx(before["metrics"], rel=1e-4)
        assert all(np.triu(row["pattern"], 1).max() == 0.0 for row in found.values())
