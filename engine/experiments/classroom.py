"""The guesses of a class: those of everybody who opened a presented lesson by its link, counted per issue.

A classroom is a file in the data folder, so that all servers which share the folder count together. It has a line of JSON per guess:
the id of the visitor (a digest of a cookie, no name), the issue, the answer. The last line of a visitor counts.
"""

import json
import re
import secrets
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.experiments.key_figure import Answer
from engine.foundation.files import append_whole, data_folder, keep_newest

FORM = re.compile(r"[0-9a-f]{8}")
"""The form of a classroom's code."""
MOST, MOST_BYTES = 200, 2**18
"""The classrooms that are kept, those with the latest guesses, and the bytes of one: a few thousand guesses."""


@dataclass(frozen=True)
class Hands:
    """The guesses of a class on one issue."""

    students: int
    """How many are in the classroom, with or without a guess on this issue."""
    guesses: Mapping[Answer, int]
    """The number of students by their answer; without the answers that nobody gave."""


def new_code() -> str:
    return secrets.token_hex(4)


def keep_guess(code: str, student: str, issue: str, answer: Answer | None) -> None:
    """Count the guess of a student in place of an earlier one; None: no guess yet, or none any more. A guess that the disk does not
    take is not counted."""
    file = _file(code)
    with suppress(OSError):
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            keep_newest(file.parent, "*.jsonl", MOST - 1)
        elif file.stat().st_size > MOST_BYTES:
            return
        append_whole(file, json.dumps([student, issue, answer]) + "\n")


def hands(code: str, issue: str) -> Hands:
    """The guesses of the class so far."""
    latest: dict[str, Answer | None] = {}
    with suppress(OSError):
        for line in _file(code).read_text("utf-8").splitlines():
            with suppress(ValueError):  # a line of which only a part has been written yet
                student, about, answer = json.loads(line)
                latest[student] = answer if about == issue else latest.get(student)
    return Hands(len(latest), Counter(answer for answer in latest.values() if answer is not None))


def _file(code: str) -> Path:
    return data_folder() / "classrooms" / f"{code}.jsonl"
