"""A lesson as it is held: the step and the phase it is at, whether pages are shown for a room full of people, and what a press makes of it;
and the class in which a phone is.

Lesson, step, presenting and class stand in the address of every page while they last, so that a link opens them anywhere. The phase
does not: a link never starts a run. Only the browser that opened a class presents it; in any other one its code makes a student.
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
from pages.parts.app.page_state import carried_in, carry
from pages.parts.app.visitor import visitor
from pages.parts.experiments.question import keep_answer

KEY = "presenting"
"""Session key of the lesson that is held."""
JOINED = f"{KEY}.joined"
"""Session key: the code of the class in which this visitor is a student."""
PHASES = ("question", "guess", "run", "figure", "sentence", "remedy")
"""What an issue shows, one after another; each adds to those before: the run has the two rows that the question compares, the figure
has all."""
LAB_PHASES = ("question", "guess", "run", "picture", "sentence")
"""The phases of a presented lab, in their order. It trains from "run" on."""
SLIDE_PHASES, ASKING_SLIDE_PHASES = ("slide",), ("question", "guess", "sentence")
CODE = -1
"""The phase before the first step of a lesson: its link as a QR code."""
OTHER_BROWSER = "Another browser has opened this class. Press P twice to open a new one."
GUESSES = ("1", "2", "3")
"""The keys of the three guesses, in the order of :data:`engine.experiments.question.ANSWERS`."""
GO_ON, EMPTY_IT = "Continue?", "Remove"
"""The end of the question before the presenter goes on, and the beginning of that before the class is emptied."""
QUESTIONS_FILE, LAB_FILE, SLIDE_FILE, CLASS_FILE = "questions.py", "lab.py", "slide.py", "classroom.py"


@dataclass(frozen=True)
class Presenting:
    lesson: Lesson
    at: int = 0
    """The index of the present step."""
    phase: int = 0
    on: bool = True
    """True if pages are shown for a room; else the lesson only leads from step to step."""
    began: float = field(default_factory=time.time)
    """When the lesson began, in seconds since 1970."""
    step_began: float = field(default_factory=time.time)
    """The same of the present step."""
    classroom: str = ""
    """The code of the class whose wall this is; empty where the lesson is nobody's but one's own."""
    round: int = 0
    """How often the phones of the class were asked to train seeds in this step."""
    training: bool = False
    """True if the phones train: from the presenter's key until the presenter goes on."""
    note: str = ""
    """A sentence for the presenter that stands on the wall until the next key."""
    over: bool = False
    """True if the presenter went on past the last phase of the last step."""
    guess: int | None = None
    """The index of the guess that was chosen by a key, until the page of the step takes it."""
    ran: frozenset[int] = frozenset()
    """The indices of the steps that need no run any more."""

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.at]

    @property
    def visit(self) -> str:
        """Return a name for the present step of this lesson, for what a session keeps of it."""
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
        """Tell whether a presented step takes no guess any more: it has come to its run, even if the presenter has gone back since."""
        return self.on and (self.past_guessing or self.at in self.ran)

    def at_step(self, at: int) -> "Presenting":
        """Return the lesson at the beginning of a step. A guess that no page has taken yet was for the step that is left."""
        return replace(self, at=at, phase=0, round=0, training=False, guess=None)

    def shows(self, phase: str) -> bool:
        """Return whether a page shows this already; everything where it is not presented, or is not the page of the step."""
        return not self.on or phase not in self.phases or self.phase >= self.phases.index(phase)

    def carried(self) -> dict[str, str]:
        code, at, present = to_code(self.lesson), str(self.at + 1), "true" if self.on else ""
        all_names = {"lesson": code, "at": at, "present": present, "class": self.classroom}
        return {name: text for name, text in all_names.items() if text}


class Facts(NamedTuple):
    """What a press depends on beside the lesson."""

    unanswered: str = ""
    """The question whether to go on, where nobody has answered or the run has not ended; else empty."""
    students: int = 0
    """How many are in the class."""
    issue: Lesson | None = None
    """The issue of the page as a lesson of one step, which P presents where no lesson is held."""


NO_FACTS = Facts()
Effect = Literal["open class", "empty class", "send home", "open step"]
"""What a press does beside changing the lesson."""


def next_state(
    now: Presenting | None, key: str, facts: Facts = NO_FACTS
) -> tuple[Presenting | None, tuple[Effect, ...]]:
    """Return the lesson after a press of a key or a button, and what else is to be done; the same lesson where the press means nothing."""
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
            return replace(earlier, phase=len(earlier.phases) - 1, ran=now.ran | {earlier.at}), ("open step",)
        case "seeds" if now.on and now.classroom and now.step.issue and now.shows("guess"):
            # What the wall has told stays there. Else the next key tells it: from stored seeds, too, whatever has come from phones.
            has_sentence = now.shows("sentence") or (now.shows("run") and not now.round)
            phase = now.phases.index("sentence" if has_sentence else "figure")
            return replace(then, phase=phase, round=now.round + 1, training=True, ran=now.ran | {now.at}), ()
        case _ if key in GUESSES and now.step.question and not now.guesses_closed:
            return replace(then, guess=GUESSES.index(key), phase=now.phases.index("guess")), ()
    return now, ()


def presenting() -> Presenting | None:
    return cast(Presenting | None, st.session_state.get(KEY))


def presented() -> bool:
    """Return whether pages are shown for a room now."""
    now = presenting()
    return now is not None and now.on


def shows(phase: str) -> bool:
    now = presenting()
    return now is None or now.shows(phase)


def asks_to_run(slug: str) -> bool:
    """Return whether a presented step has come to its run or, by several presses at once, past it; once each time. ``slug``: of the issue,
    empty for the lab."""
    now = presenting()
    if now is None or not now.on or now.step.slide or now.step.issue != slug or now.phase < now.phases.index("run"):
        return False
    if now.at in now.ran:
        return False
    put(replace(now, ran=now.ran | {now.at}))
    return True


def guesses_closed() -> bool:
    now = presenting()
    return now is not None and now.guesses_closed


def take_guess(name: str) -> None:
    """Keep as the guess of that name what the presenter has chosen by a key since the last call."""
    now = presenting()
    if now is not None and now.guess is not None:
        put(replace(now, guess=None))
        keep_answer(name, ANSWERS[now.guess])


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


def start_lesson(lesson: Lesson, *, on: bool = True) -> None:
    """Open a lesson: presented at its QR code, or gone through alone from its first step."""
    now = Presenting(lesson, on=on, phase=CODE if on else 0)
    open_step(with_class(now) if on else now)


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
    of_visitor, present = presents(classroom, visitor()), given.get("present") == "true"
    if classroom and not of_visitor and not present:
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
    note = OTHER_BROWSER if classroom and present and not of_visitor else ""
    put(Presenting(lesson, int(at) - 1, on=present, classroom=classroom if of_visitor else "", note=note))
    return ignored


def link_of(lesson: Lesson, base: str) -> str:
    """The full link to the first step of a lesson, for who goes through it alone. ``base``: the address of the app, with a slash at its
    end."""
    file, query = way_into(lesson)
    return f"{base}{address_of(file)}?{urlencode(query)}"


def way_into(lesson: Lesson, at: int = 0) -> tuple[str, dict[str, str]]:
    """Return the page of a step, and the query with which somebody alone begins there."""
    step = lesson.steps[at]
    return file_of(step), {**step.query, **Presenting(lesson, at, on=False).carried()}


def file_of(step: LessonStep) -> str:
    return QUESTIONS_FILE if step.issue else SLIDE_FILE if step.slide else LAB_FILE


def open_step(now: Presenting) -> None:
    """Open the page of the present step, whose time begins. The script run ends here."""
    now = replace(now, step_began=time.time())
    put(now)
    _open_page(now)


def keep_to_step(file: str) -> None:
    """Open the page of the present step where the browser asks for that of another one: a press that comes while the page changes names the
    page before it. ``file``: of the page that is shown."""
    now = presenting()
    if now is None or not now.on or file == file_of(now.step) or file not in (QUESTIONS_FILE, LAB_FILE, SLIDE_FILE):
        return
    if carried_in(st.query_params.to_dict()):  # else the presenter has followed a link
        _open_page(now)


def _open_page(now: Presenting) -> None:
    """Open the page of the present step. The script run ends here."""
    st.session_state[SCREEN] = f"{to_code(now.lesson)} {now.at}"
    st.switch_page(file_of(now.step), query_params={**now.step.query, **now.carried()})
