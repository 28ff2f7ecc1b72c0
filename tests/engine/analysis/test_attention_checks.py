"""Every classic fault is caught by its test, and the code shown is the code that ran."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.analysis.attention.asked import FAULTS, ModelAsked, Place, SampleAsked, why_not
from engine.analysis.attention.checks import entropy_at_first, faults_seen
from engine.analysis.attention.heads import heads, patterns
from engine.analysis.attention.model import data_of, held_out, model_of, sample_of, sequence, train_again
from engine.runs.events import Snapshot
from engine.text import plays
from engine.text.tokens import joined, pieces, vocabulary_of
from engine.training.train import train
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


@pytest.mark.parametrize("settings", [{}, {"norm": "post"}, {"family": "encoder_decoder"}, {"family": "encoder"}])
def test_a_sound_model_passes_every_test(settings: dict[str, Any]) -> None:
    assert failed((), **settings) == set()


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_caught(fault: str) -> None:
    assert failed((fault,)) == CAUGHT_BY[fault]


@pytest.mark.parametrize(
    ("settings", "red"),
    [
        ({"norm": "none"}, {"norm"}),
        ({"skips": False, "norm": "post"}, {"skip"}),
        ({"attention_score": "dot", "mask_fault": "missing"}, {"spread", "future"}),
        ({"softmax_axis": "query", "attention_impl": "materialised"}, {"rows", "future"}),
        ({"randomized_positions": 3, "share_layers": True}, set()),
        ({"task": "own_position", "variant": "padded", "family": "encoder"}, set()),
        ({"dtype": "bfloat16", "task": "lookup"}, set()),
    ],
)
def test_a_run_trained_with_a_fault_fails_its_test(settings: dict[str, Any], red: set[str]) -> None:
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


def test_training_again_in_slices_gives_the_patterns_the_run_had(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    config = tiny_config(seq_len=4, steps=12, dropout=0.1)
    there = {event.step: event for event in train(config) if isinstance(event, Snapshot)}
    asked = ModelAsked(config, step=6)
    states = [train_again(asked, seconds=0.0)]
    while states[-1]["step"] < 6:
        states.append(train_again(asked, seconds=1e-4))
    assert len(states) > 2
    assert heads(asked, SampleAsked())["patterns"]["self"] == pytest.approx(there[6].patterns["self"], abs=1e-6)
    third = patterns(asked, SampleAsked(2))["self"]
    assert third == pytest.approx(there[6].more_patterns["self"][1], abs=1e-6), "as the probe saw it on the way"
    end = heads(ModelAsked(config), SampleAsked())["patterns"]["self"]
    assert end == pytest.approx(there[12].patterns["self"], abs=1e-6)
    assert len(list((tmp_path / "trained_again").iterdir())) == 2


def test_own_tokens_are_framed_and_checked() -> None:
    config = tiny_config(seq_len=4)
    assert sample_of(config, SampleAsked(text="3 1, 4 1")).inputs.tolist() == [[3, 1, 4, 1, 1, 4, 1]]
    assert sample_of(config, SampleAsked(text="3 1")).inputs.tolist() == [[3, 1, 1]]
    with pytest.raises(ValueError, match=r"Your token “11” is not known; allowed are 0, 1, .*, 9\."):
        sample_of(config, SampleAsked(text="3 11"))
    with pytest.raises(ValueError, match="Your tokens are 5; allowed are 2 to 4"):
        sample_of(config, SampleAsked(text="1 2 3 4 5"))
    with pytest.raises(ValueError, match="sample is 999; allowed is a whole number from 0 to 255"):
        sample_of(config, SampleAsked(999))
    assert sample_of(config, SampleAsked(2)).inputs.tolist() == held_out(config).inputs[2:3].tolist()


@pytest.mark.parametrize(
    ("task", "sentence", "names"),
    [
        ("shakespeare_words", "To be, or not to be", ["To", "be", ",", "or", "not", "to"]),
        ("shakespeare_words", "My lord, I", ["My", "lord", ","]),
        ("shakespeare_words", "My lord,\nI", ["My", "lord", ",↵"]),
        ("shakespeare_words", "the Gandalf is", ["the", "�"]),
        ("shakespeare_chars", "To be, or", ["T", "o", "␣", "b", "e", ",", "␣", "o"]),
        ("shakespeare_chars", "Ay,\nmy", ["A", "y", ",", "↵", "m"]),
    ],
)
def test_a_sentence_is_read_as_it_is_written_and_named_as_the_vocabulary_names_it(
    task: str, sentence: str, names: list[str]
) -> None:
    config = tiny_config(task=task, seq_len=10, plays=1)
    seen = sequence(config, SampleAsked(text=sentence))
    assert seen["queries"]["self"] == names
    assert seen["unknown"] == (["Gandalf"] if "Gandalf" in sentence else [])
    corpus = data_of(config).corpus
    assert corpus is not None
    batch = sample_of(config, SampleAsked(text=sentence))
    unit = config.task_settings.unit
    known = vocabulary_of([pieces(plays.read(plays.trained_plays(1)[0]), unit)], len(corpus.names))
    spelled = known.spelled([*batch.inputs[0].tolist(), batch.targets[0, -1].item()])
    assert joined(spelled, unit) == sentence.replace(" Gandalf ", "�"), "what is read is the sentence"
