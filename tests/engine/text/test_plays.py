"""The plays that come with the program: the same characters as ever, and held-out ones apart from those to train on."""

import hashlib
from itertools import groupby

import pytest

from engine.config.run_config import parse
from engine.text import plays
from engine.text.tokens import UNKNOWN_NAME, Unit, joined
from engine.training.data import Data


def test_no_play_is_on_both_sides_and_they_are_those_of_all_stored_results() -> None:
    trained = plays.trained_plays(99)
    assert len(set(trained)) == 34
    assert set(trained) | set(plays.HELD_OUT) == set(plays.files())
    assert set(trained).isdisjoint(plays.HELD_OUT)
    assert plays.trained_plays(2) == trained[:2]

    digest = hashlib.sha256()
    for name in plays.files():
        digest.update(name.encode() + plays.read(name).encode())
    assert digest.hexdigest() == "ddad2c7821ae39269d478a14039253cdc9f3d6b8541be948f0b64b3418792b67"

    text = plays.read("macbeth")
    assert text.startswith("Macbeth\n\nACT I\n")
    assert "When shall we three meet again\nIn thunder" in text
    assert not any(mark in text for mark in ("**", "_", "## "))


@pytest.mark.parametrize("task", ["shakespeare_chars", "shakespeare_words"])
def test_held_out_windows_are_of_other_plays(task: str) -> None:
    config = parse({"task": task, "plays": 1, "vocab_size": 300, "seq_len": 24})
    data = Data(config)
    names = data.corpus.names if data.corpus is not None else ()
    held_out = " ".join(plays.read(name) for name in plays.HELD_OUT)
    row = data.validation_batch().inputs[0].tolist()
    parts = [names[token].replace("␣", " ").replace("↵", "\n") for token in row]
    unit: Unit = "characters" if task == "shakespeare_chars" else "words"
    runs = [list(run) for known, run in groupby(parts, key=lambda part: part != UNKNOWN_NAME) if known]
    assert joined(max(runs, key=len), unit) in held_out
