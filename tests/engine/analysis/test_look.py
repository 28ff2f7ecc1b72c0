"""What is shown without a run is what a run begins with, and what a trained model makes of a typed sequence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.analysis.attention_asked import ModelAsked
from engine.analysis.look import before_training, own_sequence_read
from engine.config.run_config import parse
from engine.model.load import save_weights
from engine.runs.events import Progress, Snapshot, Started
from engine.training.train import prepare, train

CONFIGS = [{}, {"family": "encoder_decoder", "seq_len": 4}, {"task": "sort", "family": "encoder"}, {"family": "gru"}]


@pytest.mark.parametrize("settings", CONFIGS)
def test_the_look_before_training_is_how_the_run_begins(settings: dict[str, object]) -> None:
    config = parse({**settings, "steps": 3, "device": "cpu"})
    started, snapshot, first, *_ = before_training(config)
    events = iter(train(config))
    assert started == next(event for event in events if isinstance(event, Started))
    own = next(event for event in events if isinstance(event, Snapshot))
    assert isinstance(snapshot, Snapshot)
    assert isinstance(first, Progress)
    assert snapshot.step == 0
    assert snapshot.samples == own.samples
    assert snapshot.patterns.keys() == own.patterns.keys()
    assert all(np.array_equal(snapshot.patterns[name], own.patterns[name]) for name in own.patterns)
    assert first.loss == next(event for event in events if isinstance(event, Progress)).loss


def test_a_trained_model_answers_a_typed_sequence(tmp_path: Path) -> None:
    config = parse({"seq_len": 4, "steps": 150, "device": "cpu"})
    model = prepare(config)
    for _ in train(config, model):
        pass
    save_weights(model, tmp_path / "weights.safetensors")
    trained = own_sequence_read(ModelAsked(config, str(tmp_path / "weights.safetensors")), "1 2 3 4")
    untrained = own_sequence_read(ModelAsked(config, step=0), "1 2 3 4")
    assert trained.step == 150
    assert untrained.step == 0
    right = [[mark for mark in snapshot.samples[0].marks if mark is not None] for snapshot in (trained, untrained)]
    assert sum(right[0]) > sum(right[1])
    assert trained.samples[0].tokens[:4] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("text", ["1 2 3 4 5 6", "1 2 3", "7 7"])
def test_a_shorter_sequence_is_asked_for_its_whole_answer(text: str) -> None:
    sample = own_sequence_read(ModelAsked(parse({"device": "cpu"}), step=0), text).samples[0]
    symbols = text.split()
    assert [target for target in sample.targets if target] == symbols[::-1]


def test_tokens_that_do_not_exist_are_named() -> None:
    with pytest.raises(ValueError, match="x"):
        own_sequence_read(ModelAsked(parse({"device": "cpu"}), step=0), "1 x 3")
