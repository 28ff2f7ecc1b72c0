"""Text: characters and words, the plays that come with the program, and texts of one's own."""

import hashlib
from itertools import groupby
from pathlib import Path

import pytest

from engine.config.run_config import parse
from engine.settings.errors import ConfigError
from engine.text import own, plays
from engine.text.tokens import UNKNOWN_NAME, Unit, is_word, joined, pieces, vocabulary_of
from engine.training.data import Data

TEXT = "To be, or not to be:\nthat is the question."


@pytest.mark.parametrize("text", [TEXT, " begins and ends with a space ", "two  spaces", "", " ", "-- dash --\n\nO!"])
@pytest.mark.parametrize("unit", ["characters", "words"])
def test_pieces_joined_are_the_text(text: str, unit: Unit) -> None:
    assert joined(pieces(text, unit), unit) == text


def test_words_are_split_at_their_boundaries_and_told_from_what_stands_between() -> None:
    assert pieces("To be, or  not", "words") == ["To", "be", ", ", "or", "  ", "not"]
    assert [piece for piece in pieces(TEXT, "words") if not is_word(piece)] == [", ", ":\n", "."]


def test_the_commonest_are_numbered_the_same_every_time_with_visible_names() -> None:
    vocabulary = vocabulary_of([list("aabbbc")], 3)
    assert vocabulary.numbers == {"b": 1, "a": 2}
    assert vocabulary.encode("abcz").tolist() == [2, 1, 0, 0]
    assert vocabulary.names(5) == (UNKNOWN_NAME, "b", "a", UNKNOWN_NAME, UNKNOWN_NAME)
    assert vocabulary_of(["ba", "ab"], 10).numbers == vocabulary_of(["ab", "ba"], 10).numbers
    assert vocabulary_of([[" ", "a", ",\n"]], 4).names(4) == (UNKNOWN_NAME, "␣", ",↵", "a")


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


OWN = "Wörter, and more words.\n" * 60


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    return tmp_path


def test_a_text_comes_back_by_its_name() -> None:
    name = own.keep(OWN.encode())
    assert own.read(name) == OWN
    assert own.keep(OWN.replace("\n", "\r\n").encode("utf-8-sig")) == name
    assert parse({"task": "shakespeare_chars", "text": name}).value("text") == name


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x" * 1_000_001, "at most 1,000,000 bytes"),
        (b"\xff\xfe" + b"x" * 2000, "not UTF-8"),
        (b"x" * 1500 + b"\0", "null character"),
        (b"too short", "at least 1,000"),
    ],
)
def test_what_is_no_text_is_refused_in_one_sentence(content: bytes, said: str, data_folder: Path) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        own.keep(content)
    assert "\n" not in str(caught.value)
    assert not (data_folder / "texts").exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a" * 31, "A" * 32, "shakespeare.md", ""])
def test_a_link_reads_no_file_of_the_host(name: str) -> None:
    with pytest.raises(ValueError, match="text is"):
        own.read(name)
    with pytest.raises(ConfigError) as caught:
        parse({"task": "shakespeare_words", "text": name})
    assert caught.value.problems[0].setting == "text"


def test_unknown_names_missing_files_and_a_text_that_changed_are_said(tmp_path: Path, data_folder: Path) -> None:
    with pytest.raises(ValueError, match="no text of that name"):
        own.read("0" * 32)
    with pytest.raises(ValueError, match="cannot be read"):
        own.keep_file(tmp_path / "none.txt")

    name = own.keep(OWN.encode())
    (data_folder / "texts" / f"{name}.txt").write_text("something else")
    with pytest.raises(ValueError, match="has changed"):
        own.read(name)


def test_a_visitor_keeps_so_many_texts_and_takes_nobody_elses_place_up_to_so_many_in_all(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bens = own.keep(OWN.encode(), "ben", most=2)
    annas = [own.keep(f"{number} {OWN}".encode(), "anna", most=2) for number in range(4)]
    assert len(list((data_folder / "texts").glob("*.txt"))) == 3
    for name in (bens, *annas[2:]):
        assert OWN in own.read(name)
    with pytest.raises(ValueError, match="no text of that name"):
        own.read(annas[0])

    monkeypatch.setattr(own, "MOST", 2)
    last = own.keep(f"last {OWN}".encode())
    assert len(list((data_folder / "texts").glob("*.txt"))) == 2
    assert own.read(last).startswith("last ")
