"""A text of one's own: what is taken, what is refused, and that a name reaches nothing but kept texts."""

from pathlib import Path

import pytest

from engine.config.run_config import parse
from engine.settings.errors import ConfigError
from engine.text import own

TEXT = "Wörter, and more words.\n" * 60


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    return tmp_path


def test_a_text_comes_back_by_its_name() -> None:
    name = own.keep(TEXT.encode())
    assert own.read(name) == TEXT
    assert own.keep(TEXT.replace("\n", "\r\n").encode("utf-8-sig")) == name
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

    name = own.keep(TEXT.encode())
    (data_folder / "texts" / f"{name}.txt").write_text("something else")
    with pytest.raises(ValueError, match="has changed"):
        own.read(name)


def test_a_visitor_keeps_so_many_texts_and_takes_nobody_elses_place_up_to_so_many_in_all(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bens = own.keep(TEXT.encode(), "ben", most=2)
    annas = [own.keep(f"{number} {TEXT}".encode(), "anna", most=2) for number in range(4)]
    assert len(list((data_folder / "texts").glob("*.txt"))) == 3
    for name in (bens, *annas[2:]):
        assert TEXT in own.read(name)
    with pytest.raises(ValueError, match="no text of that name"):
        own.read(annas[0])

    monkeypatch.setattr(own, "MOST", 2)
    last = own.keep(f"last {TEXT}".encode())
    assert len(list((data_folder / "texts").glob("*.txt"))) == 2
    assert own.read(last).startswith("last ")
