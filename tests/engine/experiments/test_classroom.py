"""Classrooms: guesses that are counted once per student, by issue, and only as much of them as a file may hold."""

import json
import os

import pytest

from engine.experiments import classroom
from engine.experiments.classroom import FORM, Hands, hands, keep_guess, new_code
from engine.foundation.files import data_folder

pytestmark = pytest.mark.usefixtures("own_data_folder")


def test_the_latest_guess_of_each_student_counts_once_and_for_its_own_issue_and_class() -> None:
    code, other = "0123abcd", "4567abcd"
    for student, issue, answer in [
        ("ann", "heads", 1), ("ben", "heads", 1), ("ann", "heads", -1), ("eve", "heads", None), ("ben", "depth", 0),
        ("dan", "heads", 0), ("dan", "heads", None),
    ]:  # fmt: skip
        keep_guess(code, student, issue, answer)
    keep_guess(other, "zoe", "heads", 1)
    assert hands(code, "heads") == Hands(4, {-1: 1, 1: 1})
    assert hands(code, "depth") == Hands(4, {0: 1})
    assert hands(other, "heads") == Hands(1, {1: 1})
    assert hands("89abcdef", "heads") == Hands(0, {})
    assert FORM.fullmatch(new_code())
    assert new_code() != new_code()


def test_a_half_written_line_counts_for_nothing_and_a_full_file_or_disk_takes_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = "0123abcd"
    keep_guess(code, "ann", "heads", 1)
    (file,) = (data_folder() / "classrooms").iterdir()
    whole = file.read_text()
    file.write_text(whole + json.dumps(["ben", "heads", 1])[:-3])
    assert hands(code, "heads") == Hands(1, {1: 1})

    file.write_text(whole)
    monkeypatch.setattr(classroom, "MOST_BYTES", len(whole) - 1)
    keep_guess(code, "ben", "heads", 1)
    assert file.read_text() == whole

    def full(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(classroom, "append_whole", full)
    keep_guess("4567abcd", "ben", "heads", 1)
    assert hands("4567abcd", "heads") == Hands(0, {})


def test_the_classrooms_with_the_latest_guesses_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classroom, "MOST", 2)
    for age, code in enumerate(("00000000", "11111111", "22222222")):
        keep_guess(code, "ann", "heads", 1)
        file = data_folder() / "classrooms" / f"{code}.jsonl"
        os.utime(file, (1000 + age, 1000 + age))
    assert [hands(code, "heads").students for code in ("00000000", "11111111", "22222222")] == [0, 1, 1]
