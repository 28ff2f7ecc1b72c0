from typing import Any

import numpy as np
import pytest

from engine.analysis.attention.checks import entropy_at_first, switch_faults_on
from engine.analysis.attention.model import model_of, sample_of
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import FAULTS, ModelRequest, SampleRequest, why_not
from engine.analysis.attention.steps import steps
from engine.encodings import ENCODINGS
from tests.engine.tiny import TODAY, tiny_config

HEAD = Part("head", "self", 0, 0)
CAUGHT_BY = {
    "mask_missing": {"future"},
    "mask_transposed": {"future", "past"},
    "mask_off_by_one": {"future"},
    "query_softmax": {"future", "rows"},
    "no_scale": {"spread"},
    "no_skip": {"skip"},
    "no_norm": {"norm"},
}


def failed(faults: tuple[str, ...], **settings: Any) -> set[str]:
    request = ModelRequest(tiny_config(seq_len=4, **settings))
    checks = switch_faults_on(request, SampleRequest(), HEAD, faults)["after"]["checks"]
    return {row["name"] for row in checks if row["passed"] is False}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_caught(fault: str) -> None:
    assert failed((fault,)) == CAUGHT_BY[fault]


@pytest.mark.parametrize(
    ("settings", "red"),
    [
        *((sound, set()) for sound in ({}, {"norm": "post"}, {"family": "encoder_decoder"}, {"family": "encoder"})),
        ({"norm": "none"}, {"norm"}),
        ({"skips": False, "norm": "post"}, {"skip"}),
        ({"attention_score": "dot", "mask_fault": "missing"}, {"spread", "future"}),
        ({"softmax_axis": "query", "attention_impl": "materialised"}, {"rows", "future"}),
        ({"randomized_positions": 3, "share_layers": True}, set()),
        ({"task": "own_position", "variant": "padded", "family": "encoder"}, set()),
        *(({"dtype": dtype, "task": "lookup"}, set()) for dtype in ("bfloat16", "bfloat16_mixed")),
    ],
)
def test_a_run_with_a_fault_fails_its_check_and_a_sound_one_none(settings: dict[str, Any], red: set[str]) -> None:
    assert failed((), **settings) == red


def test_faults_add_up_and_those_that_do_not_apply_say_why() -> None:
    assert failed(("mask_missing", "no_skip")) == {"future", "skip"}
    encoder = tiny_config(family="encoder", skips=False)
    assert why_not(encoder, "mask_missing") == "An encoder has no causal mask to break."
    assert why_not(encoder, "no_skip") == "This run was trained with it."
    assert why_not(encoder, "query_softmax") == ""


def test_the_code_shown_is_what_ran_and_the_numbers_are_there() -> None:
    request = ModelRequest(tiny_config(seq_len=4))
    result = switch_faults_on(request, SampleRequest(), HEAD, ("mask_missing",))
    assert result["before"]["influence"].shape == (7, 7)
    assert np.tril(result["before"]["influence"], -1).max() == 0.0
    assert np.tril(result["after"]["influence"], -1).max() > 0.01
    future = result["after"]["checks"][0]
    assert "def influence(" in future["code"]
    assert "def future_leak(" in future["code"]
    namespace: dict[str, Any] = vars(__import__("engine.analysis.attention.checks", fromlist=["x"])).copy()
    exec(future["code"], namespace)
    model, batch = model_of(request), sample_of(request.config, SampleRequest())
    assert namespace["future_leak"](model, batch) == result["before"]["checks"][0]["value"]


def test_without_the_scale_entropy_falls_with_the_width_of_a_head() -> None:
    found = entropy_at_first()
    assert found["dot"] == sorted(found["dot"], reverse=True)
    assert max(found["scaled_dot"]) - min(found["scaled_dot"]) < 0.1


PAIR = {"family": "encoder_decoder"}


def ablation(part: Part, query: int = 7, **settings: Any) -> dict[str, Any]:
    config = tiny_config(seq_len=5 if settings.get("family") != "encoder_decoder" else 8, **settings)
    return steps(ModelRequest(config), SampleRequest(1), part, query)


@pytest.mark.parametrize(
    ("which", "settings"),
    [
        *(("self", {"pos_encoding": name, "family": f}) for name in ENCODINGS for f in ("decoder", "encoder")),
        ("self", {"pos_encoding": "t5_bias", "share_layers": True}),
        ("self", {"pos_encoding": "shaw", "shaw_values": True, "d_head": 6}),
        ("self", {"pos_encoding": "rope", "attention_score": "cosine", "mask_fault": "off_by_one"}),
        ("self", {"attention_score": "additive", "attention_impl": "materialised"}),
        ("self", {"pos_encoding": "rope", "qk_norm": True}),
        ("self", {"pos_encoding": "rope", "n_heads": 4, **TODAY}),
        ("self", {"pos_encoding": "rope", "softmax_plus_one": True, "attention_gate": True}),
        ("cross", PAIR | {"softmax_plus_one": True, "attention_gate": True}),
        ("self", PAIR | {"pos_encoding": "rope"}),
        ("encoder", PAIR | {"pos_encoding": "shaw"}),
        ("cross", PAIR | {"pos_encoding": "sinusoidal"}),
    ],
)
def test_the_steps_recombine_to_the_models_own_output(which: Any, settings: dict[str, Any]) -> None:
    from scipy.special import softmax

    s = ablation(Part("head", which, 1, 2), query=4, **settings)
    assert s["gap"] < 1e-5
    score = np.where(s["blocked"], -np.inf, s["score"])
    weight = softmax([*score, 0.0])[:-1] if settings.get("softmax_plus_one") else softmax(score)
    assert weight == pytest.approx(s["weight"], abs=1e-6)
    assert s["scaled"] + s["bias"] == pytest.approx(s["score"], abs=1e-5)
    mixed = s["weight"] @ s["v"] + (0 if s["value_term"] is None else s["value_term"])
    assert mixed * (1 if s["gate"] is None else s["gate"]) == pytest.approx(s["mixed"], abs=1e-5)
    assert s["projected"].sum(0) + s["bias_out"] == pytest.approx(s["out"], abs=1e-5)
    assert s["turned_k"] @ s["turned_q"] == pytest.approx(s["turned"], abs=1e-4)
    assert s["pattern"][4] == pytest.approx(s["weight"])
    if settings.get("attention_score") is None:
        assert s["turned"] / s["d_head"] ** 0.5 == pytest.approx(s["scaled"], abs=1e-5)


def test_what_the_encoding_added_is_its_bias_or_its_rotation_and_a_query_that_is_not_there_is_named() -> None:
    assert np.abs(ablation(Part("head", "self", 0, 0), pos_encoding="nope")["by_encoding"]).max() == 0.0
    alibi = ablation(Part("head", "self", 0, 0), pos_encoding="alibi")
    assert alibi["by_encoding"] == pytest.approx(alibi["bias"], abs=1e-5)
    rope = ablation(Part("head", "self", 0, 0), pos_encoding="rope")
    assert rope["by_encoding"] == pytest.approx((rope["turned"] - rope["product"]) / 2, abs=1e-5)
    assert rope["by_encoding"][7] == pytest.approx(0.0, abs=1e-5), "no distance, no turn"
    learned = ablation(Part("head", "self", 1, 0), pos_encoding="learned")
    assert np.abs(learned["by_encoding"]).max() > 0.01
    with pytest.raises(ValueError, match=r"query is 9; it must be a whole number from 0 to 8\."):
        ablation(Part("head", "self", 0, 0), query=9)
