"""The model of a question is the run's own, also trained again; a typed sequence is framed, checked and read; the look before training."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from engine.analysis.attention import model as models
from engine.analysis.attention.heads import heads, patterns
from engine.analysis.attention.model import (
    before_training,
    data_of,
    sample_of,
    sequence,
    train_again,
    user_sequence_read,
)
from engine.analysis.attention.requests import ModelRequest, SampleRequest, file_of
from engine.config.run_config import parse
from engine.model.build import save_weights
from engine.model.transformer import Transformer
from engine.runs.events import Progress, Snapshot, Started
from engine.tasks.text import plays
from engine.tasks.text.tokens import joined, pieces, vocabulary_of
from engine.training.train import prepare, train
from tests.engine.tiny import tiny_config


def test_training_again_in_slices_gives_the_patterns_the_run_had(own_data_folder: Path) -> None:
    config = tiny_config(seq_len=4, steps=12, dropout=0.1)
    there = {event.step: event for event in train(config) if isinstance(event, Snapshot)}
    request = ModelRequest(config, step=6)
    states = [train_again(request, seconds=0.0)]
    while states[-1] < 6:
        states.append(train_again(request, seconds=1e-4))
    assert len(states) > 2
    assert heads(request, SampleRequest())["patterns"]["self"] == pytest.approx(there[6].patterns["self"], abs=1e-6)
    third = patterns(request, SampleRequest(2))["self"]
    assert third == pytest.approx(there[6].more_patterns["self"][1], abs=1e-6), "as the probe saw it on the way"
    end = heads(ModelRequest(config), SampleRequest())["patterns"]["self"]
    assert end == pytest.approx(there[12].patterns["self"], abs=1e-6)
    assert len(list((own_data_folder / "trained_again").iterdir())) == 2


def test_weights_that_another_process_deletes_as_the_oldest_are_trained_again(
    own_data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, load, deleted = ModelRequest(tiny_config(seq_len=4, steps=3), step=2), models.load_model, list[Path]()
    train_again(request)

    def deleted_just_before(model: Transformer, name: str) -> object:
        if not deleted:
            deleted.append(file_of(request))
            deleted[0].unlink()
        return load(model, name)

    monkeypatch.setattr(models, "load_model", deleted_just_before)
    assert models.model_of(request).state_dict()
    assert deleted[0].exists()


def test_own_tokens_are_framed_and_checked() -> None:
    config = tiny_config(seq_len=4)
    assert sample_of(config, SampleRequest(text="3 1, 4 1")).inputs.tolist() == [[3, 1, 4, 1, 1, 4, 1]]
    assert sample_of(config, SampleRequest(text="3 1")).inputs.tolist() == [[3, 1, 1]]
    with pytest.raises(
        ValueError, match=r"Your token “11” is not known; allowed are 0, 1, .*, 9, with spaces between them\."
    ):
        sample_of(config, SampleRequest(text="3 11"))
    fixed = (
        r"Your tokens are 5; allowed are 2 to 4\. The model is trained on 4 tokens; shorter sequences are new to it\."
    )
    with pytest.raises(ValueError, match=fixed):
        sample_of(config, SampleRequest(text="1 2 3 4 5"))
    ranged = r"allowed are 2 to 4\. The model is trained on 3 to 4 tokens; shorter sequences are new to it\."
    with pytest.raises(ValueError, match=ranged):
        sample_of(tiny_config(seq_len=4, min_seq_len=3), SampleRequest(text="1 2 3 4 5"))
    with pytest.raises(ValueError, match=r"allowed are 2 to 4\. The model is trained on 2 to 4 tokens\."):
        sample_of(tiny_config(seq_len=4, min_seq_len=2), SampleRequest(text="1 2 3 4 5"))
    sentence = {text: sequence(config, SampleRequest(text=text))["new_length"] for text in ("", "3 1 4", "3 1 4 1")}
    assert sentence == {
        "": "",
        "3 1 4": "The model is trained on 4 tokens; shorter sequences are new to it.",
        "3 1 4 1": "",
    }
    with pytest.raises(ValueError, match="sample is 999; allowed is a whole number from 0 to 255"):
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
    seen = models.sequence(config, SampleRequest(text=sentence))
    assert seen["tokens"]["self"][0] == names
    assert seen["unknown"] == (["Gandalf"] if "Gandalf" in sentence else [])
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
    its_start, own, its_first = itertools.islice(run, 3)
    assert (started, snapshot.step) == (its_start, own.step) == (its_start, 0)
    assert (snapshot.samples, snapshot.patterns.keys()) == (own.samples, own.patterns.keys())
    assert all(np.array_equal(snapshot.patterns[name], own.patterns[name]) for name in own.patterns)
    assert first.loss == its_first.loss


def test_a_trained_model_answers_a_typed_sequence(tmp_path: Path) -> None:
    config = parse({"seq_len": 4, "steps": 150, "device": "cpu"})
    model = prepare(config)
    for _ in train(config, model):
        pass
    save_weights(model, tmp_path / "weights.safetensors")
    trained = user_sequence_read(ModelRequest(config, str(tmp_path / "weights.safetensors")), "1 2 3 4")
    untrained = user_sequence_read(ModelRequest(config, step=0), "1 2 3 4")
    assert (trained.step, untrained.step) == (150, 0)
    right = [[mark for mark in snapshot.samples[0].marks if mark is not None] for snapshot in (trained, untrained)]
    assert sum(right[0]) > sum(right[1])
    assert trained.samples[0].tokens[:4] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("text", ["1 2 3 4 5 6", "1 2 3", "7 7"])
def test_a_shorter_sequence_is_asked_for_its_whole_answer(text: str) -> None:
    sample = user_sequence_read(ModelRequest(parse({"device": "cpu"}), step=0), text).samples[0]
    symbols = text.split()
    assert [target for target in sample.targets if target] == symbols[::-1]
