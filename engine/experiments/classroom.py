"""A class: the state of the projector, and the answers from the phones that opened the class's code.

A class is one small file in the data folder, which only the presenting visitor writes: the state of the projector
(:class:`ProjectorState`). Beside it lies a folder with one small file per student, a JSON object of answers by step, and the files
of the seeds that phones train (:mod:`engine.experiments.class_seeds`). So all servers that share the data folder count together, a
phone finds everything again after a reload, a guess is stored as a whole or not at all, and nobody counts as two students; all
of it is deleted with the class. A student is the id of a visitor (a digest of a cookie, no name); the file's name holds a digest of
the student's network, different for each class. The folder's time of change says when somebody was last in the class: as long as
the class is in use, no new class replaces it.
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
from engine.foundation.files import (
    data_folder,
    files_near,
    files_of_visitor,
    keep_newest,
    newest_beside,
    write_for_visitor,
    write_whole,
)
from engine.foundation.once import once_per_change
from engine.foundation.visitor import Visitor
from engine.serving.allowances import has_share

FORM = re.compile(r"[0-9a-f]{8}")
MAX_CLASSES, MAX_CLASSES_OF_VISITOR = 200, 10  # the newest are stored: of everybody, and of one visitor who presents
IN_USE_SECONDS = 300.0  # seconds for which a class counts as in use after its projector or a phone last showed it
# the students in a class, and those in one network: a visitor who throws cookies away is not a class
MAX_STUDENTS, MAX_STUDENTS_OF_NETWORK = 500, 60
# seconds between two marks that a student's phone shows the class, and seconds without one after which the phone has left
PRESENCE_MARK_SECONDS, PRESENCE_SECONDS = 15.0, 60.0
# the purpose of a phone now: nothing yet; its guess; to look at the projector; to train a seed; to show the answer; to offer the
# report, since the lesson has ended
Phase = Literal["wait", "guess", "look", "seeds", "told", "over"]
ENDED = "This class has ended, or its link is incomplete."
TOO_LATE = "The next step has begun."


@dataclass(frozen=True)
class ProjectorState:
    lesson: str = ""
    """The lesson as its link has it (:func:`engine.experiments.lessons.from_code`)."""
    at: int = 0
    phase: Phase = "wait"
    round: int = 0
    """The number of times that the presenter has asked for seeds in this step."""
    right: tuple[Direction, ...] = ()
    sentence: str = ""
    because: str = ""


@dataclass(frozen=True)
class _Class:
    presenter: str
    """The id of a visitor."""
    # stored under its earlier name, so that a class continues if the app is updated in the middle of a lesson
    state: Annotated[ProjectorState, Field(alias="wall")]


@dataclass(frozen=True)
class Responses:
    students: int
    guesses: Mapping[Direction, int]
    present: frozenset[str] = field(default=frozenset(), compare=False)
    """The ids of the students whose phones show the class now."""
    waiting: int = field(default=0, compare=False)
    """The number of students in ``present`` without a guess."""


CLASS = TypeAdapter(_Class)


def open_class(presenter: Visitor) -> str:
    """Open a class and return its code.

    Raises NoRoom with one sentence if only classes in use could be replaced, OSError if the class cannot be written.
    """
    code, in_use = secrets.token_hex(4), {file for file in _classes().glob("*.class") if _is_in_use(file)}
    of_visitor = len(in_use.intersection(files_of_visitor(presenter.id, _classes()))) if presenter.id else 0
    near = len(in_use.intersection(files_near(presenter, _classes())))
    if of_visitor >= MAX_CLASSES_OF_VISITOR or not has_share(near, len(in_use), MAX_CLASSES):
        number, whose = (of_visitor, " that you opened") if of_visitor >= MAX_CLASSES_OF_VISITOR else (len(in_use), "")
        raise NoRoom(f"{number} classes{whose} are open now, which is the limit. Try again in a few minutes.")
    content = _content(presenter, ProjectorState())
    write_for_visitor(_class(code), content, presenter, MAX_CLASSES_OF_VISITOR, MAX_CLASSES, in_use=in_use)
    folder_of(code).mkdir(exist_ok=True)
    keep_newest(_classes(), "*.jsonl", 0)  # of a former version
    for folder in _classes().iterdir():
        if FORM.fullmatch(folder.name) and not _class(folder.name).exists():
            shutil.rmtree(folder, ignore_errors=True)
    return code


def presents(code: str, visitor: Visitor) -> bool:
    classroom = _read_class(code)
    return classroom is not None and classroom.presenter == visitor.id


def show_projector(code: str, presenter: Visitor, state: ProjectorState) -> None:
    """Let the phones of a class follow its projector, and mark the class as in use; nothing if the visitor did not open it. Raises
    OSError."""
    classroom = _read_class(code)
    if classroom is None or classroom.presenter != presenter.id:
        return
    if classroom.state != state:
        file = _class(code)
        write_whole(file, _content(presenter, state), newest_beside(file))
    folder_of(code).mkdir(exist_ok=True)
    os.utime(folder_of(code))


def empty_class(code: str, presenter: Visitor) -> None:
    """Remove all students with their guesses and seeds; phones that show the class enter it again. Nothing if the
    visitor did not open it. Raises OSError."""
    if presents(code, presenter):
        for file in folder_of(code).iterdir():
            file.unlink(missing_ok=True)


def projector_of(code: str) -> ProjectorState:
    """Raises NoRoom with one sentence if there is no such class."""
    classroom = _read_class(code)
    if classroom is None:
        raise NoRoom(ENDED)
    return classroom.state


def enter(code: str, student: Visitor) -> Mapping[int, Direction]:
    """Add a student to a class, mark that the phone shows the class, and return the student's guesses by step.

    Raises NoRoom with one sentence if the class is full, OSError if the disk does not take the file.
    """
    file = student_file(code, student)
    if not file.exists():
        write_whole(file, "{}")
    elif _seconds_since(file.stat()) > PRESENCE_MARK_SECONDS:
        os.utime(file)
        os.utime(file.parent)
    return _guesses_in(file)


def keep_guess(code: str, student: Visitor, at: int, answer: Direction | None) -> None:
    """Store a student's guess in a step instead of an earlier one; None removes it.

    Raises as :func:`enter` does, and Refused if the projector does not ask for guesses in this step.
    """
    file = student_file(code, student)
    state = projector_of(code)
    if (state.at, state.phase) != (at, "guess"):
        raise Refused(TOO_LATE)
    answers = dict(_guesses_in(file)) if file.exists() else {}
    answers.pop(at, None)
    write_whole(file, json.dumps(answers if answer is None else {**answers, at: answer}))


def responses(code: str, at: int) -> Responses:
    by_student, present = dict[str, Direction | None](), set[str]()
    with suppress(OSError), os.scandir(folder_of(code)) as entries:
        for entry in entries:
            if entry.name.endswith(".json"):
                student = entry.name.partition(".")[0]
                by_student[student] = None
                with suppress(OSError):  # one that cannot be read just now is read the next time
                    by_student[student] = _guesses(Path(entry.path)).get(at)
                    if _seconds_since(entry.stat()) < PRESENCE_SECONDS:
                        present.add(student)
    guesses = Counter(answer for answer in by_student.values() if answer is not None)
    return Responses(
        len(by_student), guesses, frozenset(present), sum(by_student[student] is None for student in present)
    )


def student_file(code: str, student: Visitor) -> Path:
    """The file of a student, which exists if the student has entered the class.

    In a full class, a student whose phone has left makes room. Raises NoRoom with one sentence if there is no such class, or all
    students of a full one are here.
    """
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
    for theirs, most, whose in ((near, MAX_STUDENTS_OF_NETWORK, " at your network address"), (files, MAX_STUDENTS, "")):
        if len(theirs) >= most:
            absent = _longest_absent(theirs)
            if absent is None:
                raise NoRoom(f"This class has {len(theirs)} students{whose} already, which is the limit.")
            absent.unlink(missing_ok=True)
            files.remove(absent)
    return file


def _longest_absent(files: Iterable[Path]) -> Path | None:
    seconds = dict[Path, float]()
    for file in files:
        with suppress(OSError):
            seconds[file] = _seconds_since(file.stat())
    first = max(seconds, key=seconds.__getitem__, default=None)
    return first if first is not None and seconds[first] >= PRESENCE_SECONDS else None


def _is_in_use(file: Path) -> bool:
    with suppress(OSError):
        return _seconds_since(file.with_suffix("").stat()) < IN_USE_SECONDS
    return False


def _seconds_since(changed: os.stat_result) -> float:
    # positive also if the clock was set back, else a student would stay here until it catches up
    return abs(time.time() - changed.st_mtime)


def folder_of(code: str) -> Path:
    return _class(code).with_suffix("")


def _guesses_in(file: Path) -> Mapping[int, Direction]:
    """The valid answers of a student by step. Raises OSError."""
    try:
        row = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return {}
    if not isinstance(row, dict):
        return {}
    return {int(at): answer for at, answer in row.items() if at.isdigit() and type(answer) is int and answer in ANSWERS}


_guesses = once_per_change(8192)(_guesses_in)


def _read_class(code: str) -> _Class | None:
    with suppress(OSError, ValidationError):  # the file of an earlier version
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
