"""A lesson as it is held: the step and the beat it is at, and whether pages are shown for a room full of people; and the class in which a
phone is.

Lesson, step, presenting and class stand in the address of every page while they last, so that a link opens them anywhere. The beat
does not: a link never starts a run. Only the browser that opened a class presents it; in any other one its code makes a student.
"""

import time
from dataclasses import dataclass, replace
from typing import cast
from urllib.parse import urlencode

import streamlit as st

from engine.experiments.classroom import FORM, open_class, presents
from engine.experiments.lessons import Lesson, LessonStep, from_code, to_code
from engine.foundation.errors import NoRoom
from engine.settings.errors import ConfigError, Problem
from pages.parts.app.page_state import carried_in, carry
from pages.parts.app.visitor import visitor

KEY = "presenting"
"""Session key of the lesson that is held."""
GUESS = f"{KEY}.guess"
"""Session key: the place of the guess that was chosen by a key, until the page of the step takes it."""
RAN = f"{KEY}.ran"
"""Session key: the steps that need no run any more, by their place and the time at which the lesson began."""
JOINED = f"{KEY}.joined"
"""Session key: the code of the class in which this visitor is a student."""
BEATS = ("question", "guess", "run", "figure", "sentence", "remedy")
"""What a stage shows, one after another; each adds to those before: the run has the two rows that the question compares, the figure
has all."""
LAB_BEATS = ("question", "guess", "run", "picture", "sentence")
"""The beats of a presented lab, in their order. It trains from "run" on."""
SLIDE_BEATS, ASKING_SLIDE_BEATS = ("slide",), ("question", "guess", "sentence")
CODE = -1
"""The beat before the first step of a lesson: its link as a QR code."""
OTHER_BROWSER = "Another browser has opened this class. Press P twice to open a new one."
ISSUES_FILE, LAB_FILE, SLIDE_FILE, CLASS_FILE = "issues.py", "lab.py", "slide.py", "classroom.py"


@dataclass(frozen=True)
class Presenting:
    lesson: Lesson
    at: int = 0
    """The place of the present step."""
    beat: int = 0
    on: bool = True
    """Whether pages are shown for a room; else the lesson only leads from step to step."""
    began: float = 0.0
    """When the lesson began, in seconds since 1970."""
    step_began: float = 0.0
    """The same of the present step."""
    classroom: str = ""
    """The code of the class whose wall this is; empty where the lesson is nobody's but one's own."""
    round: int = 0
    """How often the phones of the class were asked to train seeds in this step."""
    training: bool = False
    """Whether the phones train: from the presenter's key until the presenter goes on."""
    note: str = ""
    """A sentence for the presenter that stands on the wall until the next key."""
    over: bool = False
    """Whether the presenter went on past the last beat of the last step."""

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.at]

    @property
    def beats(self) -> tuple[str, ...]:
        if self.step.slide:
            return ASKING_SLIDE_BEATS if self.step.question else SLIDE_BEATS
        return BEATS if self.step.issue else LAB_BEATS

    @property
    def past_guessing(self) -> bool:
        return self.step.question is None or self.beat > self.beats.index("guess")

    def shows(self, beat: str) -> bool:
        """Whether a page shows this already; everything where it is not presented, or is not the page of the step."""
        return not self.on or beat not in self.beats or self.beat >= self.beats.index(beat)

    def carried(self) -> dict[str, str]:
        code, at, present = to_code(self.lesson), str(self.at + 1), "true" if self.on else ""
        all_names = {"lesson": code, "at": at, "present": present, "class": self.classroom}
        return {name: text for name, text in all_names.items() if text}


def presenting() -> Presenting | None:
    return cast(Presenting | None, st.session_state.get(KEY))


def presented() -> bool:
    """Whether pages are shown for a room now."""
    now = presenting()
    return now is not None and now.on


def shows(beat: str) -> bool:
    now = presenting()
    return now is None or now.shows(beat)


def asks_to_run(slug: str) -> bool:
    """Whether a presented step has come to its run or, by several presses at once, past it; once each time. ``slug``: of the issue,
    empty for the lab."""
    now = presenting()
    if now is None or not now.on or now.step.slide or now.step.issue != slug or now.beat < now.beats.index("run"):
        return False
    return note_run(now)


def note_run(now: Presenting) -> bool:
    """Note that the present step needs no run any more; returns whether it needed one."""
    noted: set[tuple[int, float]] = st.session_state.setdefault(RAN, set())
    step = (now.at, now.began)
    needed = step not in noted
    noted.add(step)
    return needed


def guesses_closed() -> bool:
    """Whether the presented step takes no guess any more: it has come to its run, also where the presenter has gone back since."""
    now = presenting()
    return now is not None and now.on and (now.past_guessing or (now.at, now.began) in st.session_state.get(RAN, ()))


def take_guess() -> int | None:
    """The place of the guess that the presenter has chosen by a key since the last call; None without one."""
    return cast(int | None, st.session_state.pop(GUESS, None))


def put(now: Presenting | None) -> None:
    """Hold a lesson from now on; None: none any more. The page writes the address accordingly."""
    st.session_state[KEY] = now
    carry(_carried())


def _carried() -> dict[str, str]:
    """What the address of every page carries."""
    now, joined = presenting(), joined_class()
    return ({"class": joined} if joined else {}) | (now.carried() if now is not None else {})


def joined_class() -> str:
    """The code of the class in which this visitor is a student; empty for none."""
    return str(st.session_state.get(JOINED, ""))


def join_class(code: str) -> None:
    """Be a student of this class from now on; an empty code: of none any more."""
    st.session_state[JOINED] = code
    carry(_carried())


def start_lesson(lesson: Lesson, *, on: bool = True) -> Presenting:
    began = time.time()
    now = Presenting(lesson, on=on, began=began, step_began=began)
    now = with_class(now) if on else now
    put(now)
    return now


def with_class(now: Presenting) -> Presenting:
    """The lesson with a class that this visitor opens; without one where it is refused, or the disk does not take it."""
    try:
        return replace(now, classroom=open_class(visitor()))
    except NoRoom as refusal:
        return replace(now, note=str(refusal))
    except OSError:
        return now


def open_lesson() -> list[Problem]:
    """Read the lesson and the class in a link, once; returns what in it was ignored."""
    given, now = carried_in(st.query_params.to_dict()), presenting()
    met = st.session_state.get(f"{KEY}.met")
    st.session_state[f"{KEY}.met"] = given
    if not given or given in (met, _carried()):
        return []
    if now is not None and now.on and given | {"at": ""} == now.carried() | {"at": ""}:
        _open_page(now)  # a press that comes while the page changes brings the address of the step before
    classroom, ignored = given.get("class", ""), list[Problem]()
    if classroom and not FORM.fullmatch(classroom):
        ignored, classroom = [Problem("class", classroom, "the code in a link that Present makes")], ""
    own, present = presents(classroom, visitor()), given.get("present") == "true"
    if classroom and not own and not present:
        join_class(classroom)
    if "lesson" not in given:
        allowed = "only in a link that also names a lesson"
        return [*ignored, *(Problem(name, given[name], allowed) for name in given.keys() - {"class"})]
    try:
        lesson = from_code(given["lesson"])
    except ConfigError as error:
        return [*ignored, *error.problems]
    at = given.get("at", "1")
    if not (at.isascii() and at.isdigit() and 1 <= int(at) <= len(lesson.steps)):
        ignored, at = [Problem("at", at, f"a step of the lesson, 1 to {len(lesson.steps)}"), *ignored], "1"
    began, code = time.time(), classroom if own else ""
    note = OTHER_BROWSER if classroom and present and not own else ""
    put(Presenting(lesson, int(at) - 1, on=present, began=began, step_began=began, classroom=code, note=note))
    return ignored


def link_of(lesson: Lesson, base: str) -> str:
    """The full link to the first step of a lesson, for who goes through it alone. ``base``: the address of the app, with a slash at its
    end."""
    first = lesson.steps[0]
    query = {**first.query, **Presenting(lesson, on=False).carried()}
    return f"{base}{file_of(first).removesuffix('.py')}?{urlencode(query)}"


def file_of(step: LessonStep) -> str:
    return ISSUES_FILE if step.issue else SLIDE_FILE if step.slide else LAB_FILE


def go_to(now: Presenting, at: int, beat: int = 0) -> None:
    """Open a step of the lesson, from its beginning or at a later beat."""
    take_guess()  # one that no page has taken yet is for the step that is left
    there = replace(now, at=at, beat=beat, round=0, training=False, step_began=time.time())
    put(there)
    _open_page(there)


def keep_to_step(file: str) -> None:
    """Open the page of the present step where the browser asks for that of another one: a press that comes while the page changes names the
    page before it. ``file``: of the page that is shown."""
    now = presenting()
    if now is None or not now.on or file == file_of(now.step) or file not in (ISSUES_FILE, LAB_FILE, SLIDE_FILE):
        return
    if carried_in(st.query_params.to_dict()):  # else the presenter has followed a link
        _open_page(now)


def _open_page(now: Presenting) -> None:
    """Open the page of the present step. The script run ends here."""
    st.switch_page(file_of(now.step), query_params={**now.step.query, **now.carried()})
