import itertools
from pathlib import Path

import numpy as np
import pytest

from engine.analysis.attention import model as models
from engine.analysis.attention.model import (
    before_training,
    data_of,
    sample_of,
    sequence,
    user_sequence_read,
)
from engine.analysis.attention.requests import ModelRequest, SampleRequest
from engine.config.run_config import parse
from engine.model.build import save_weights
from engine.runs.events import Progress, Snapshot, Started
from engine.tasks.text import plays
from engine.tasks.text.tokens import joined, pieces, vocabulary_of
from engine.training.train import prepare, train
from tests.engine.tiny import tiny_config


def test_own_tokens_are_framed_and_checked() -> None:
    config = tiny_config(seq_len=4)
    assert sample_of(config, SampleRequest(text="3 1, 4 1")).inputs.tolist() == [[3, 1, 4, 1, 1, 4, 1]]
    assert sample_of(config, SampleRequest(text="3 1")).inputs.tolist() == [[3, 1, 1]]
    with pytest.raises(
        ValueError, match=r"Your token “11” is not known; the tokens are 0, 1, .*, 9, with spaces between them\."
    ):
        sample_of(config, SampleRequest(text="3 11"))
    fixed = r"You gave 5 tokens; the model reads 2 to 4\. The model is trained on 4 tokens; shorter sequences are new to it\."
    with pytest.raises(ValueError, match=fixed):
        sample_of(config, SampleRequest(text="1 2 3 4 5"))
    ranged = r"the model reads 2 to 4\. The model is trained on 3 to 4 tokens; shorter sequences are new to it\."
    with pytest.raises(ValueError, match=ranged):
        sample_of(tiny_config(seq_len=4, min_seq_len=3), SampleRequest(text="1 2 3 4 5"))
    with pytest.raises(ValueError, match=r"the model reads 2 to 4\. The model is trained on 2 to 4 tokens\."):
        sample_of(tiny_config(seq_len=4, min_seq_len=2), SampleRequest(text="1 2 3 4 5"))
    new = {text: sequence(config, SampleRequest(text=text))["new_length"] for text in ("", "3 1 4", "3 1 4 1")}
    assert new == {
        "": "",
        "3 1 4": "The model is trained on 4 tokens; shorter sequences are new to it.",
        "3 1 4 1": "",
    }
    with pytest.raises(ValueError, match="sample is 999; it must be a whole number from 0 to 255"):
        sample_of(config, SampleRequest(999))
    assert sample_of(config, SampleRequest(2)).inputs.tolist() == models.held_out(config).inputs[2:3].tolist()


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
def test_a_sentence_is_read_as_written_and_named_by_the_vocabulary(task: str, sentence: str, names: list[str]) -> None:
    config = tiny_config(task=task, seq_len=10, plays=1)
    sequence = models.sequence(config, SampleRequest(text=sentence))
    assert sequence["tokens"]["self"][0] == names
    assert sequence["unknown"] == (["Gandalf"] if "Gandalf" in sentence else [])
    batch, size = sample_of(config, SampleRequest(text=sentence)), len(data_of(config).corpus.names)
    unit = config.task_settings.unit
    known = vocabulary_of([pieces(plays.read(plays.trained_plays(1)[0]), unit)], size)
    spelled = known.spelled([*batch.inputs[0].tolist(), batch.targets[0, -1].item()])
    assert joined(spelled, unit) == sentence.replace(" Gandalf ", "�"), "what is read is the sentence"


@pytest.mark.parametrize(
    "settings",
    [{}, {"family": "encoder_decoder", "seq_len": 4}, {"task": "sort", "family": "encoder"}, {"family": "gru"}],
)
def test_the_look_before_training_is_how_the_run_begins(settings: dict[str, object]) -> None:
    config = parse({**settings, "steps": 3, "device": "cpu"})
    started, snapshot, first = before_training(config)
    run = (event for event in train(config) if isinstance(event, Started | Snapshot | Progress))
    its_start, untrained, its_first = itertools.islice(run, 3)
    assert (started, snapshot.step) == (its_start, untrained.step) == (its_start, 0)
    assert (snapshot.samples, snapshot.patterns.keys()) == (untrained.samples, untrained.patterns.keys())
    assert all(np.array_equal(snapshot.patterns[name], untrained.patterns[name]) for name in untrained.patterns)
    assert first.loss == its_first.loss


def test_a_trained_model_answers_a_typed_sequence(tmp_path: Path) -> None:
    config = parse({"seq_len": 4, "steps": 150, "device": "cpu"})
    model = prepare(config)
    for _ in train(config, model):
        pass
    save_weights(model, tmp_path / "weights.safetensors")
    trained = user_sequence_read(ModelRequest(config, str(tmp_path / "weights.safetensors")), "1 2 3 4")
    untrained = user_sequence_read(ModelRequest(config), "1 2 3 4")
    assert (trained.step, untrained.step) == (150, 0)
    right = [[mark for mark in snapshot.samples[0].marks if mark is not None] for snapshot in (trained, untrained)]
    assert sum(right[0]) > sum(right[1])
    assert trained.samples[0].tokens[:4] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("text", ["1 2 3 4 5 6", "1 2 3", "7 7"])
def test_a_shorter_sequence_is_asked_for_its_whole_answer(text: str) -> None:
    sample = user_sequence_read(ModelRequest(parse({"device": "cpu"})), text).samples[0]
    symbols = text.split()
    assert [target for target in sample.targets if target] == symbols[::-1]
