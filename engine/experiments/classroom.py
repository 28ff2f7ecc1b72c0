"""A class: what the projector shows, and what the phones that opened its code have answered.

A class is one small file in the data folder, which only the visitor who presents writes: what the projector shows
(:class:`ProjectorState`). Beside it lies a folder with one small file per student, a JSON object of answers by step, and those of the seeds
that phones train (:mod:`engine.experiments.class_seeds`). So all servers that share the data folder count together, a phone finds all
of it again after a reload, a guess is there as a whole or not at all, and one student takes the room of one; all of it goes with the
class. A student is the id of a visitor (a digest of a cookie, no name); of its network the file's name has a digest of its own per class.
The time of the folder says when somebody was in the class last: while it is held, nobody's new class takes its place.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from engine.experiments.question import ANSWERS, Direction
from engine.foundation.errors import NoRoom, Refused
from engine.foundation.files import data_folder, give, given_by, given_near, keep_newest, newest_beside, write_whole
from engine.foundation.once import once_per_change
from engine.foundation.visitor import Visitor
from engine.serving.allowances import has_share

FORM = re.compile(r"[0-9a-f]{8}")
"""The form of a class's code."""
MAX_CLASSES, MAX_CLASSES_OF_VISITOR = 200, 10
"""The number of classes that are kept, the newest: of everybody, and of one visitor who presents."""
HELD_FOR = 300.0
"""Seconds for which a class is held after its projector or a phone showed it last."""
MOST_STUDENTS, MOST_OF_ADDRESS = 500, 60
"""The number of students in a class, and of those in one network: who throws cookies away is not a class by itself."""
HERE_EVERY, HERE_FOR = 15.0, 60.0
"""Seconds between two notes that a student's phone shows the class, and those after which a phone without one has left."""
Phase = Literal["wait", "guess", "look", "seeds", "told", "over"]
"""The purpose of a phone now: nothing yet; its guess; to look at the projector; to train a seed; to be told the answer; to offer the
hand-in, since the lesson has ended."""
ENDED = "This class has ended, or its link is incomplete."
GONE_ON = "The next step has begun."


@dataclass(frozen=True)
class ProjectorState:
    """The state of the projector of a class, as far as the phones need it."""

    lesson: str = ""
    """The lesson as its link has it (:func:`engine.experiments.lessons.from_code`)."""
    at: int = 0
    """The index of the step."""
    phase: Phase = "wait"
    round: int = 0
    """How often the presenter has asked for seeds in this step."""
    right: tuple[Direction, ...] = ()
    """The answers that are right, once they are told; empty where the runs decide none."""
    sentence: str = ""
    """The sentence on the runs, once it is told."""
    because: str = ""
    """The reason, once it is told and where there is one."""


@dataclass(frozen=True)
class _Class:
    presenter: str
    """The id of the visitor who opened it."""
    state: Annotated[ProjectorState, Field(alias="wall")]
    """Stored under its earlier name: a class goes on where the app is updated in the middle of a lesson."""


@dataclass(frozen=True)
class Responses:
    """The guesses of a class in one step."""

    students: int
    """How many are in the class, with or without a guess in this step."""
    guesses: Mapping[Direction, int]
    """The number of students by their answer; without the answers that nobody gave."""
    here: frozenset[str] = field(default=frozenset(), compare=False)
    """The ids of the students whose phones show the class now."""
    waiting: int = field(default=0, compare=False)
    """How many of these have not guessed yet."""


CLASS = TypeAdapter(_Class)


def open_class(presenter: Visitor) -> str:
    """Make a class and return its code. Raises NoRoom with one sentence where it could only take the place of one that is held, OSError
    where the disk does not take it."""
    code, held = secrets.token_hex(4), {file for file in _classes().glob("*.class") if _is_held(file)}
    of_visitor = len(held.intersection(given_by(presenter.id, _classes()))) if presenter.id else 0
    near = len(held.intersection(given_near(presenter, _classes())))
    if of_visitor >= MAX_CLASSES_OF_VISITOR or not has_share(near, len(held), MAX_CLASSES):
        number, whose = (of_visitor, " of yours") if of_visitor >= MAX_CLASSES_OF_VISITOR else (len(held), "")
        raise NoRoom(f"{number} classes{whose} are held just now. Open this one in a few minutes.")
    content = _content(presenter, ProjectorState())
    give(_class(code), content, presenter, MAX_CLASSES_OF_VISITOR, MAX_CLASSES, in_use=held)
    folder_of(code).mkdir(exist_ok=True)
    keep_newest(_classes(), "*.jsonl", 0)  # of a former version
    for folder in _classes().iterdir():
        if FORM.fullmatch(folder.name) and not _class(folder.name).exists():
            shutil.rmtree(folder, ignore_errors=True)
    return code


def presents(code: str, visitor: Visitor) -> bool:
    """Whether this visitor has opened the class, and so steers it."""
    found = _read_class(code)
    return found is not None and found.presenter == visitor.id


def show_projector(code: str, presenter: Visitor, state: ProjectorState) -> None:
    """Let the phones of a class follow its projector, and note that the class is held; nothing where the visitor has not opened it. Raises
    OSError."""
    found = _read_class(code)
    if found is None or found.presenter != presenter.id:
        return
    if found.state != state:
        file = _class(code)
        write_whole(file, _content(presenter, state), newest_beside(file))
    folder_of(code).mkdir(exist_ok=True)
    os.utime(folder_of(code))


def empty_class(code: str, presenter: Visitor) -> None:
    """Let all students go, with their guesses and seeds: those whose phones show the class enter it again. Nothing where the visitor has
    not opened it. Raises OSError."""
    if presents(code, presenter):
        for file in folder_of(code).iterdir():
            file.unlink(missing_ok=True)


def projector_of(code: str) -> ProjectorState:
    """The present state of the projector. Raises NoRoom with one sentence where there is no such class."""
    found = _read_class(code)
    if found is None:
        raise NoRoom(ENDED)
    return found.state


def enter(code: str, student: Visitor) -> Mapping[int, Direction]:
    """Take a student into a class, if it is not there yet, and note that its phone shows the class; returns its guesses so far, by step.
    Raises NoRoom with one sentence where the class takes nobody more, OSError where the disk does not take the file."""
    file = student_file(code, student)
    if not file.exists():
        write_whole(file, "{}")
    elif _seconds_since(file.stat()) > HERE_EVERY:
        os.utime(file)
        os.utime(file.parent)
    return _guesses_in(file)


def keep_guess(code: str, student: Visitor, at: int, answer: Direction | None) -> None:
    """Count the guess of a student in a step in place of an earlier one; None: no guess any more. Raises as :func:`enter` does, and Refused
    where the projector does not ask for guesses in this step."""
    file = student_file(code, student)
    state = projector_of(code)
    if (state.at, state.phase) != (at, "guess"):
        raise Refused(GONE_ON)
    given = dict(_guesses_in(file)) if file.exists() else {}
    given.pop(at, None)
    write_whole(file, json.dumps(given if answer is None else {**given, at: answer}))


def responses(code: str, at: int) -> Responses:
    """The guesses of the class in a step so far. Of the students' files only those are read that have changed since the last call."""
    by_student, here = dict[str, Direction | None](), set[str]()
    with suppress(OSError), os.scandir(folder_of(code)) as entries:
        for entry in entries:
            if entry.name.endswith(".json"):
                student = entry.name.partition(".")[0]
                by_student[student] = None
                with suppress(OSError):  # one that cannot be read just now is read the next time
                    by_student[student] = _guesses(Path(entry.path)).get(at)
                    if _seconds_since(entry.stat()) < HERE_FOR:
                        here.add(student)
    guesses = Counter(answer for answer in by_student.values() if answer is not None)
    return Responses(len(by_student), guesses, frozenset(here), sum(by_student[student] is None for student in here))


def student_file(code: str, student: Visitor) -> Path:
    """The file of a student, which is there where the student has entered the class. Where it is full, a student whose phone has left gives
    up its place. Raises NoRoom with one sentence where there is no such class, or all of a full one are here."""
    if not _class(code).exists():
        raise NoRoom(ENDED)
    folder = folder_of(code)
    address = hashlib.sha256(f"{code} {student.network}".encode()).hexdigest()[:16] if student.network else ""
    file = folder / f"{student.id}.{address}.json"
    if file.exists():  # as nearly always: each phone asks every second, and the folder holds the files of all
        return file
    if entered := next(folder.glob(f"{student.id}.*.json"), None):  # at another address
        return entered
    files = list(folder.glob("*.json"))
    near = [file for file in files if address and file.name.endswith(f".{address}.json")]
    for theirs, most, whose in ((near, MOST_OF_ADDRESS, " at your network address"), (files, MOST_STUDENTS, "")):
        if len(theirs) >= most:
            left = _left_first(theirs)
            if left is None:
                raise NoRoom(f"This class has {len(theirs)} students{whose} already, the most that are counted.")
            left.unlink(missing_ok=True)
            files.remove(left)
    return file


def _left_first(files: Iterable[Path]) -> Path | None:
    """The file of the student whose phone has been away for longest; None where all are here."""
    away = dict[Path, float]()
    for file in files:
        with suppress(OSError):
            away[file] = _seconds_since(file.stat())
    first = max(away, key=away.__getitem__, default=None)
    return first if first is not None and away[first] >= HERE_FOR else None


def _is_held(file: Path) -> bool:
    """Whether somebody was in the class of this file of late."""
    with suppress(OSError):
        return _seconds_since(file.with_suffix("").stat()) < HELD_FOR
    return False


def _seconds_since(changed: os.stat_result) -> float:
    """Seconds between a change and now; also where the clock was set back meanwhile, so that nobody is here for as long as that."""
    return abs(time.time() - changed.st_mtime)


def folder_of(code: str) -> Path:
    """The folder of all that the phones of a class have given."""
    return _class(code).with_suffix("")


def _guesses_in(file: Path) -> Mapping[int, Direction]:
    """The answers of a student by step, without what is none. Raises OSError."""
    try:
        row = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return {}
    if not isinstance(row, dict):
        return {}
    return {int(at): answer for at, answer in row.items() if at.isdigit() and type(answer) is int and answer in ANSWERS}


_guesses = once_per_change(8192)(_guesses_in)


def _read_class(code: str) -> _Class | None:
    """A class; None where there is none, or its file is of a former version."""
    with suppress(OSError, ValidationError):
        return _class_in(_class(code))
    return None


def _content(presenter: Visitor, state: ProjectorState) -> str:
    return CLASS.dump_json(_Class(presenter.id, state), by_alias=True).decode()


@once_per_change(MAX_CLASSES)
def _class_in(file: Path) -> _Class:
    return CLASS.validate_json(file.read_bytes())


def _class(code: str) -> Path:
    return _classes() / f"{code}.class"


def _classes() -> Path:
    return data_folder() / "classrooms"
