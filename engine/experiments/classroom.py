"""The guesses of a class: those of everybody who opened a presented lesson by its link, counted per issue.

A class is an empty file in the data folder, given by the visitor who presents, and a folder beside it with one small file per student: a
JSON object of answers by issue. So all servers that share the data folder count together, a guess is there as a whole or not at all, and
one student takes the room of one. A student is the id of a visitor (a digest of a cookie, no name); of its network address the file's
name has a digest of its own per class.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from engine.experiments.key_figure import ANSWERS, Direction
from engine.foundation.errors import NoRoom
from engine.foundation.files import data_folder, give, keep_newest, write_whole
from engine.foundation.visitor import Visitor

FORM = re.compile(r"[0-9a-f]{8}")
"""The form of a class's code."""
MOST, MOST_OF_VISITOR = 200, 10
"""The number of classes that are kept, the newest: of everybody, and of one visitor who presents."""
MOST_STUDENTS, MOST_OF_ADDRESS = 500, 60
"""The number of students in a class, and of those at one network address: who throws cookies away is not a class by itself."""
ENDED = "This class has ended, or its link is not complete."


@dataclass(frozen=True)
class Hands:
    """The guesses of a class on one issue."""

    students: int
    """How many are in the class, with or without a guess on this issue."""
    guesses: Mapping[Direction, int]
    """The number of students by their answer; without the answers that nobody gave."""


def open_class(presenter: Visitor) -> str:
    """Make a class and return its code. Raises OSError where the disk does not take it."""
    code = secrets.token_hex(4)
    give(_class(code), "", presenter, MOST_OF_VISITOR, MOST)
    keep_newest(_classes(), "*.jsonl", 0)  # of a former version
    for folder in _classes().iterdir():
        if FORM.fullmatch(folder.name) and not _class(folder.name).exists():
            shutil.rmtree(folder, ignore_errors=True)
    return code


def enter(code: str, student: Visitor) -> Mapping[str, Direction]:
    """Take a student into a class, if it is not there yet; returns its guesses so far, by issue. Raises NoRoom with one sentence where the
    class takes nobody more, OSError where the disk does not take the file."""
    file = _file(code, student)
    if not file.exists():
        write_whole(file, "{}")
    return _read(file)


def keep_guess(code: str, student: Visitor, issue: str, answer: Direction | None) -> None:
    """Count the guess of a student in place of an earlier one; None: no guess any more. Raises as :func:`enter` does."""
    file = _file(code, student)
    given = dict(_read(file)) if file.exists() else {}
    given.pop(issue, None)
    write_whole(file, json.dumps(given if answer is None else {**given, issue: answer}))


def hands(code: str, issue: str) -> Hands:
    """The guesses of the class so far. Of the students' files only those are read that have changed since the last call."""
    by_student: dict[str, Direction | None] = {}
    with suppress(OSError), os.scandir(_class(code).with_suffix("")) as entries:
        for entry in entries:
            if entry.name.endswith(".json"):
                student = entry.name.partition(".")[0]
                by_student[student] = None
                with suppress(OSError):  # one that cannot be read just now is read the next time
                    stat = entry.stat()
                    by_student[student] = _guesses(entry.path, stat.st_mtime_ns, stat.st_size).get(issue)
    return Hands(len(by_student), Counter(answer for answer in by_student.values() if answer is not None))


@lru_cache(8192)
def _guesses(path: str, changed: int, size: int) -> Mapping[str, Direction]:
    return _read(Path(path))


def _read(file: Path) -> Mapping[str, Direction]:
    """The answers of a student by issue, without what is none. Raises OSError."""
    try:
        row = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return {}
    if not isinstance(row, dict):
        return {}
    return {issue: answer for issue, answer in row.items() if type(answer) is int and answer in ANSWERS}


def _file(code: str, student: Visitor) -> Path:
    """The file of a student, which is there where the student has entered the class. Raises NoRoom with one sentence where there is no such
    class, or no room in it for one more."""
    if not _class(code).exists():
        raise NoRoom(ENDED)
    folder = _class(code).with_suffix("")
    if entered := next(folder.glob(f"{student.id}.*.json"), None):
        return entered
    address = hashlib.sha256(f"{code} {student.address}".encode()).hexdigest()[:16] if student.address else ""
    files = [file.name for file in folder.glob("*.json")]
    here = sum(name.endswith(f".{address}.json") for name in files) if address else 0
    for number, most, whose in ((len(files), MOST_STUDENTS, ""), (here, MOST_OF_ADDRESS, " at your network address")):
        if number >= most:
            raise NoRoom(f"This class has {number} students{whose} already, as many as are counted.")
    return folder / f"{student.id}.{address}.json"


def _class(code: str) -> Path:
    return _classes() / f"{code}.class"


def _classes() -> Path:
    return data_folder() / "classrooms"
