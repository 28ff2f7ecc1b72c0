"""Every classic fault is caught by its test, and the code shown is the code that ran."""

from typing import Any

import numpy as np
import pytest

from engine.analysis.attention.asked import FAULTS, ModelAsked, Place, SampleAsked, why_not
from engine.analysis.attention.checks import entropy_at_first, faults_seen
from engine.analysis.attention.model import model_of, sample_of
from tests.engine.tiny import tiny_config

PLACE = Place("self", 0, 0)
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
    asked = ModelAsked(tiny_config(seq_len=4, **settings), step=0)
    return {
        row["name"]
        for row in faults_seen(asked, SampleAsked(), PLACE, faults)["after"]["checks"]
        if row["passed"] is False
    }


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
        ({"dtype": "bfloat16", "task": "lookup"}, set()),
    ],
)
def test_a_run_trained_with_a_fault_fails_its_check_and_a_sound_one_none(
    settings: dict[str, Any], red: set[str]
) -> None:
    assert failed((), **settings) == red


def test_faults_add_up_and_those_that_do_not_apply_say_why() -> None:
    assert failed(("mask_missing", "no_skip")) == {"future", "skip"}
    encoder = tiny_config(family="encoder", skips=False)
    assert why_not(encoder, "mask_missing") == "An encoder has no causal mask to break."
    assert why_not(encoder, "no_skip") == "This run was trained with it."
    assert why_not(encoder, "query_softmax") == ""


def test_the_code_shown_is_what_ran_and_the_numbers_are_there() -> None:
    asked = ModelAsked(tiny_config(seq_len=4), step=0)
    seen = faults_seen(asked, SampleAsked(), PLACE, ("mask_missing",))
    assert seen["before"]["influence"].shape == (7, 7)
    assert np.tril(seen["before"]["influence"], -1).max() == 0.0
    assert np.tril(seen["after"]["influence"], -1).max() > 0.01
    future = seen["after"]["checks"][0]
    assert "def influence(" in future["code"]
    assert "def future_leak(" in future["code"]
    namespace: dict[str, Any] = vars(__import__("engine.analysis.attention.checks", fromlist=["x"])).copy()
    exec(future["code"], namespace)
    model, batch = model_of(asked), sample_of(asked.config, SampleAsked())
    assert namespace["future_leak"](model, batch) == seen["before"]["checks"][0]["value"]


def test_without_the_scale_entropy_falls_with_the_width_of_a_head() -> None:
    found = entropy_at_first()
    assert found["dot"] == sorted(found["dot"], reverse=True)
    assert max(found["scaled_dot"]) - min(found["scaled_dot"]) < 0.1
