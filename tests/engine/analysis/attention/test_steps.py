"""The steps of one query, put together, are the model's own numbers."""

from typing import Any

import numpy as np
import pytest

from engine.analysis.attention.asked import ModelAsked, Place, SampleAsked
from engine.analysis.attention.steps import steps
from engine.encodings import ENCODINGS
from tests.engine.tiny import tiny_config

PAIR = {"family": "encoder_decoder"}


def taken(place: Place, query: int = 7, **settings: Any) -> dict[str, Any]:
    config = tiny_config(seq_len=5 if settings.get("family") != "encoder_decoder" else 8, **settings)
    return steps(ModelAsked(config, step=0), SampleAsked(1), place, query)


@pytest.mark.parametrize(
    ("which", "settings"),
    [
        ("self", {"pos_encoding": "learned"}),
        ("self", {"pos_encoding": "rope"}),
        ("self", {"pos_encoding": "alibi"}),
        ("self", {"pos_encoding": "t5_bias", "share_layers": True}),
        ("self", {"pos_encoding": "shaw", "shaw_values": True, "d_head": 6}),
        ("self", {"pos_encoding": "rope", "attention_score": "cosine", "mask_fault": "off_by_one"}),
        ("self", {"attention_score": "additive", "attention_impl": "materialised"}),
        ("self", PAIR | {"pos_encoding": "rope"}),
        ("encoder", PAIR | {"pos_encoding": "shaw"}),
        ("cross", PAIR | {"pos_encoding": "sinusoidal"}),
    ],
)
def test_the_steps_recombine_to_the_models_own_output(which: Any, settings: dict[str, Any]) -> None:
    from scipy.special import softmax

    s = taken(Place(which, 1, 2), **settings)
    assert s["gap"] < 1e-5
    weight = np.where(s["blocked"], 0.0, softmax(np.where(s["blocked"], -np.inf, s["score"])))
    assert weight == pytest.approx(s["weight"], abs=1e-6)
    assert s["scaled"] + s["bias"] == pytest.approx(s["score"], abs=1e-5)
    mixed = s["weight"] @ s["v"] + (0 if s["value_term"] is None else s["value_term"])
    assert mixed == pytest.approx(s["mixed"], abs=1e-5)
    assert s["projected"].sum(0) + s["bias_out"] == pytest.approx(s["out"], abs=1e-5)
    assert s["turned_k"] @ s["turned_q"] == pytest.approx(s["turned"], abs=1e-4)
    assert s["pattern"][s["query"]] == pytest.approx(s["weight"])
    if settings.get("attention_score") is None:
        assert s["turned"] / s["d_head"] ** 0.5 == pytest.approx(s["scaled"], abs=1e-5)


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_steps_recombine_with_every_encoding(name: str) -> None:
    for family in ("decoder", "encoder"):
        s = taken(Place("self", 1, 0), query=4, pos_encoding=name, family=family)
        assert s["gap"] < 1e-5
        assert s["scaled"] + s["bias"] == pytest.approx(s["score"], abs=1e-5)


def test_what_the_encoding_added_is_its_bias_or_its_rotation_and_a_query_that_is_not_there_is_named() -> None:
    assert np.abs(taken(Place("self", 0, 0), pos_encoding="nope")["by_encoding"]).max() == 0.0
    alibi = taken(Place("self", 0, 0), pos_encoding="alibi")
    assert alibi["by_encoding"] == pytest.approx(alibi["bias"], abs=1e-5)
    rope = taken(Place("self", 0, 0), pos_encoding="rope")
    assert rope["by_encoding"] == pytest.approx((rope["turned"] - rope["product"]) / 2, abs=1e-5)
    assert rope["by_encoding"][rope["query"]] == pytest.approx(0.0, abs=1e-5), "no distance, no turn"
    learned = taken(Place("self", 1, 0), pos_encoding="learned")
    assert np.abs(learned["by_encoding"]).max() > 0.01
    with pytest.raises(ValueError, match=r"query is 9; allowed is a whole number from 0 to 8\."):
        taken(Place("self", 0, 0), query=9)
