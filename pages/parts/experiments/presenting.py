"""The lesson of a session: its step and phase, the effect of each key, and the class of a presenter or participant.

Every address carries lesson, step, presentation and class, so that a link opens them anywhere. It carries no phase: a
link never starts a run. Only the browser that opened a class presents it; in another browser the code makes a
participant.
"""

import time
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, cast
from urllib.parse import urlencode

import streamlit as st

from engine.experiments.classroom import FORM, open_class, presents
from engine.experiments.lessons import Lesson, LessonStep, from_code, to_code
from engine.experiments.question import ANSWERS
from engine.foundation.errors import NoRoom
from engine.foundation.formatting import counted
from engine.settings.errors import ConfigError, Problem
from pages.parts.app.frame import SCREEN, address_of
from pages.parts.app.page_state import carry, lesson_parameters
from pages.parts.app.visitor import visitor
from pages.parts.experiments.question import keep_answer

# Session keys
KEY = "presenting"
JOINED = f"{KEY}.joined"  # the code of the class that this visitor has joined
# of an issue; each shows more: the run has the two compared rows, the figure has all rows
PHASES = ("question", "guess", "run", "figure", "sentence", "remedy")
LAB_PHASES = ("question", "guess", "run", "picture", "sentence")  # of a presented lab, which trains from "run" on
SLIDE_PHASES, ASKING_SLIDE_PHASES = ("slide",), ("question", "guess", "sentence")
CODE = -1  # the phase before the first step: the QR code of the class
OTHER_BROWSER = "Another browser has opened this class. Press P twice to open a new one."
GUESSES = ("1", "2", "3")
# the end of a question before the next step, and the start of that before the class is emptied
GO_ON, EMPTY_IT = "Continue?", "Remove"
QUESTIONS_FILE, LAB_FILE, SLIDE_FILE, CLASS_FILE = "questions.py", "lab.py", "slide.py", "classroom.py"


@dataclass(frozen=True)
class Presenting:
    lesson: Lesson
    at: int = 0
    phase: int = 0
    on: bool = True  # pages are shown to a room; else the lesson only leads from step to step
    began: float = field(default_factory=time.time)  # seconds since 1970
    step_began: float = field(default_factory=time.time)
    classroom: str = ""  # the class code of this projector; empty without a class
    round: int = 0  # how often the class was asked to train seeds in this step
    training: bool = False  # participants train: from the key S to the next key
    note: str = ""  # for the presenter, on the projector until the next key
    over: bool = False  # after the last phase of the last step
    guess: int | None = None  # the index of a guess that a key has chosen, until the page of the step takes it
    finished_steps: frozenset[int] = frozenset()  # the indices of the steps that need no further run

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.at]

    @property
    def visit(self) -> str:
        """A name for the present step of this lesson, for session keys."""
        return f"{self.at}.{self.began}"

    @property
    def phases(self) -> tuple[str, ...]:
        if self.step.slide:
            return ASKING_SLIDE_PHASES if self.step.question else SLIDE_PHASES
        return PHASES if self.step.issue else LAB_PHASES

    @property
    def past_guessing(self) -> bool:
        return self.step.question is None or self.phase > self.phases.index("guess")

    @property
    def guesses_closed(self) -> bool:
        """True once a presented step has reached its run, even if the presenter has stepped back since."""
        return self.on and (self.past_guessing or self.at in self.finished_steps)

    def at_step(self, at: int) -> "Presenting":
        # A guess that no page has taken yet belonged to the step before.
        return replace(self, at=at, phase=0, round=0, training=False, guess=None)

    def shows(self, phase: str) -> bool:
        """True if a page may show this phase; always true outside of a presentation or of this step's page."""
        return not self.on or phase not in self.phases or self.phase >= self.phases.index(phase)

    def parameters(self) -> dict[str, str]:
        code, at, present = to_code(self.lesson), str(self.at + 1), "true" if self.on else ""
        all_names = {"lesson": code, "at": at, "present": present, "class": self.classroom}
        return {name: text for name, text in all_names.items() if text}


class Facts(NamedTuple):
    unanswered: str = ""  # the question whether to go on, because nobody has answered or the run has not ended
    students: int = 0
    issue: Lesson | None = None  # of the page, as a lesson of one step, which P presents outside of a lesson


NO_FACTS = Facts()
Effect = Literal["open class", "empty class", "send home", "open step"]


def next_state(
    now: Presenting | None, key: str, facts: Facts = NO_FACTS
) -> tuple[Presenting | None, tuple[Effect, ...]]:
    """Return the lesson after a press, and the side effects. A press without a meaning changes nothing."""
    if now is None:
        return (Presenting(facts.issue), ("open class",)) if key == "present" and facts.issue else (None, ())
    if key == "empty":
        if not (now.on and now.classroom):
            return now, ()
        if now.note.startswith(EMPTY_IT):
            return now, ("empty class",)
        question = f"{EMPTY_IT} {counted(facts.students, 'student')} and all guesses? Press E again."
        return replace(now, note=question), ()
    if key == "next" and facts.unanswered and not now.note.endswith(GO_ON):
        return replace(now, note=facts.unanswered), ()
    then = replace(now, over=False, training=False, note="")
    match key:
        case "present":
            return replace(then, on=not now.on, phase=0), () if now.on or now.classroom else ("open class",)
        case "leave":
            return None, ("send home",) if now.classroom else ()
        case "next" if now.on and now.phase < len(now.phases) - 1:
            return replace(then, phase=now.phase + 1), ()
        case "next" if now.at + 1 < len(now.lesson.steps):
            return then.at_step(now.at + 1), ("open step",)
        case "next":
            return replace(then, over=True), ()
        case "back" if now.over:
            return then, ()
        case "back" if now.on and now.phase > (0 if now.at else CODE):
            return replace(then, phase=now.phase - 1), ()
        case "back" if now.at > 0:
            earlier = then.at_step(now.at - 1)
            return replace(earlier, phase=len(earlier.phases) - 1, finished_steps=now.finished_steps | {earlier.at}), (
                "open step",
            )
        case "seeds" if now.on and now.classroom and now.step.issue and now.shows("guess"):
            # The projector keeps a sentence that it has shown; before the first round, stored seeds give one from the
            # run on. Else the next key shows it.
            has_sentence = now.shows("sentence") or (now.shows("run") and not now.round)
            phase = now.phases.index("sentence" if has_sentence else "figure")
            return replace(
                then, phase=phase, round=now.round + 1, training=True, finished_steps=now.finished_steps | {now.at}
            ), ()
        case _ if key in GUESSES and now.step.question and not now.guesses_closed:
            return replace(then, guess=GUESSES.index(key), phase=now.phases.index("guess")), ()
    return now, ()


def presenting() -> Presenting | None:
    return cast(Presenting | None, st.session_state.get(KEY))


def presented() -> bool:
    now = presenting()
    return now is not None and now.on


def shows(phase: str) -> bool:
    now = presenting()
    return now is None or now.shows(phase)


def asks_to_run(slug: str) -> bool:
    """True once per step: at its run, or after several presses past it. ``slug`` is empty for the lab."""
    now = presenting()
    if now is None or not now.on or now.step.slide or now.step.issue != slug or now.phase < now.phases.index("run"):
        return False
    if now.at in now.finished_steps:
        return False
    put(replace(now, finished_steps=now.finished_steps | {now.at}))
    return True


def guesses_closed() -> bool:
    now = presenting()
    return now is not None and now.guesses_closed


def take_guess(name: str) -> None:
    """Store the guess that the presenter has chosen by a key since the last call."""
    now = presenting()
    if now is not None and now.guess is not None:
        put(replace(now, guess=None))
        keep_answer(name, ANSWERS[now.guess])


def put(now: Presenting | None) -> None:
    """Store the lesson in the session and in the page's address; None ends it."""
    st.session_state[KEY] = now
    carry(_parameters())


def _parameters() -> dict[str, str]:
    now, joined = presenting(), joined_class()
    return ({"class": joined} if joined else {}) | (now.parameters() if now is not None else {})


def joined_class() -> str:
    return str(st.session_state.get(JOINED, ""))


def join_class(code: str) -> None:
    """Join this class; an empty code leaves it."""
    st.session_state[JOINED] = code
    carry(_parameters())


def start_lesson(lesson: Lesson, *, on: bool = True) -> None:
    # A presentation opens at the QR code of the class.
    now = Presenting(lesson, on=on, phase=CODE if on else 0)
    open_step(with_class(now) if on else now)


def with_class(now: Presenting) -> Presenting:
    """Return the lesson with a newly opened class; without one if that is refused or the disk is full."""
    try:
        return replace(now, classroom=open_class(visitor()))
    except NoRoom as refusal:
        return replace(now, note=str(refusal))
    except OSError:
        return now


def open_lesson() -> list[Problem]:
    """Read the lesson and class of a link, once; return the problems of what it ignored."""
    given, now = lesson_parameters(st.query_params.to_dict()), presenting()
    last = st.session_state.get(f"{KEY}.met")
    st.session_state[f"{KEY}.met"] = given
    if not given or given in (last, _parameters()):
        return []
    if now is not None and now.on and given | {"at": ""} == now.parameters() | {"at": ""}:
        _open_page(now)  # a press that comes while the page changes brings the address of the step before
    classroom, ignored = given.get("class", ""), list[Problem]()
    if classroom and not FORM.fullmatch(classroom):
        ignored, classroom = [Problem("class", classroom, "the code in a link that Present makes")], ""
    of_visitor, present = presents(classroom, visitor()), given.get("present") == "true"
    if classroom and not of_visitor and not present:
        join_class(classroom)
    if "lesson" not in given:
        hint = "It needs a lesson in the link."
        return [*ignored, *(Problem(name, given[name], "", hint) for name in given.keys() - {"class"})]
    try:
        lesson = from_code(given["lesson"])
    except ConfigError as error:
        return [*ignored, *error.problems]
    at = given.get("at", "1")
    if not (at.isascii() and at.isdigit() and 1 <= int(at) <= len(lesson.steps)):
        ignored, at = [Problem("at", at, f"a step of the lesson, 1 to {len(lesson.steps)}"), *ignored], "1"
    note = OTHER_BROWSER if classroom and present and not of_visitor else ""
    put(Presenting(lesson, int(at) - 1, on=present, classroom=classroom if of_visitor else "", note=note))
    return ignored


def link_of(lesson: Lesson, base: str) -> str:
    """The full link to a lesson's first step, without presentation. ``base``: the app's address, ending in a slash."""
    file, query = way_into(lesson)
    return f"{base}{address_of(file)}?{urlencode(query)}"


def way_into(lesson: Lesson, at: int = 0) -> tuple[str, dict[str, str]]:
    step = lesson.steps[at]
    return file_of(step), {**step.query, **Presenting(lesson, at, on=False).parameters()}


def file_of(step: LessonStep) -> str:
    return QUESTIONS_FILE if step.issue else SLIDE_FILE if step.slide else LAB_FILE


def open_step(now: Presenting) -> None:
    """Open the page of the present step, and start its time. The script run ends here."""
    now = replace(now, step_began=time.time())
    put(now)
    _open_page(now)


def keep_to_step(file: str) -> None:
    """Open the page of the present step if the browser asks for another step's. ``file``: the shown page's script."""
    now = presenting()
    # A press during a change of page names the page before it.
    if now is None or not now.on or file == file_of(now.step) or file not in (QUESTIONS_FILE, LAB_FILE, SLIDE_FILE):
        return
    if lesson_parameters(st.query_params.to_dict()):  # else the presenter has followed a link
        _open_page(now)


def _open_page(now: Presenting) -> None:
    st.session_state[SCREEN] = f"{to_code(now.lesson)} {now.at}"
    # the script run ends here
    st.switch_page(file_of(now.step), query_params={**now.step.query, **now.parameters()})
