"""A lesson as it is held: the step and the beat it is at, and whether pages are shown for a room full of people.

Lesson, step and presenting stand in the address of every page while they last, so that a link opens them anywhere. The beat
does not: a link never starts a run.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from engine.experiments.classroom import FORM, open_class
from engine.experiments.issues import ISSUES
from engine.experiments.lessons import Lesson, LessonStep, from_code, to_code
from engine.settings.errors import ConfigError, Problem
from engine.settings.names import meant
from pages.parts.app.address import carried_in, carry
from pages.parts.app.frame import listening_script, nothing
from pages.parts.app.visitor import visitor

HERE = Path(__file__).parent
KEY = "presenting"
"""Session key of the lesson that is held."""
SCRIPT = "presenter.script"
"""The key of the component that listens to the keys; under ``pressed`` it holds the presses that no script run has confirmed yet, each
as its number and its meaning."""
WAITING, RECEIVED = f"{KEY}.waiting", f"{KEY}.received"
"""Session keys: the presses that are still to be followed, and the number of the last one received."""
GUESS = f"{KEY}.guess"
"""Session key: the place of the guess that was chosen by a key, until the page of the issue takes it."""
GUESSES = ("1", "2", "3")
"""The keys of the three guesses, in the order of :data:`engine.experiments.key_figure.ANSWERS`."""
BEATS = ("question", "guess", "run", "figure", "sentence", "remedy")
"""What a stage shows, one after another; each adds to those before: the run has the two rows that the question compares, the figure
has all."""
LAB_BEATS = ("question", "run", "picture", "sentence")
"""The beats of a presented lab, in their order. It trains from "run" on."""
CODE = -1
"""The beat before the first step of a lesson: its link as a QR code."""
ISSUES_FILE, LAB_FILE = "issues.py", "lab.py"
TOO_LONG = "This link is too long for a QR code."


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
    classroom: str = ""
    """The code of the classroom in which guesses are counted; empty where the lesson is nobody's but one's own."""

    @property
    def step(self) -> LessonStep:
        return self.lesson.steps[self.at]

    @property
    def beats(self) -> tuple[str, ...]:
        return BEATS if self.step.issue else LAB_BEATS

    @property
    def last_beat(self) -> bool:
        return self.beat >= len(self.beats) - 1

    def shows(self, beat: str) -> bool:
        """Whether a page shows this already; everything where it is not presented, or is not the page of the step."""
        return not self.on or beat not in self.beats or self.beat >= self.beats.index(beat)

    def carried(self) -> dict[str, str]:
        own = {"present": "true" if self.on else "", "class": self.classroom}
        return {
            "lesson": to_code(self.lesson),
            "at": str(self.at + 1),
            **{name: text for name, text in own.items() if text},
        }


def presenting() -> Presenting | None:
    found: Presenting | None = st.session_state.get(KEY)
    return found


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
    if now is None or not now.on or now.beat < now.beats.index("run") or now.step.issue != slug:
        return False
    return _note_run(now)


def _note_run(now: Presenting) -> bool:
    """Note that the present step needs no run any more; returns whether it needed one."""
    noted: set[tuple[int, float]] = st.session_state.setdefault(f"{KEY}.ran", set())
    step = (now.at, now.began)
    needed = step not in noted
    noted.add(step)
    return needed


def take_guess() -> int | None:
    """The place of the guess that the presenter has chosen by a key since the last call; None without one."""
    place: int | None = st.session_state.pop(GUESS, None)
    return place


def put(now: Presenting | None) -> None:
    """Hold a lesson from now on; None: none any more. The page writes the address accordingly."""
    st.session_state[KEY] = now
    carry(now.carried() if now is not None else {})


def start_lesson(lesson: Lesson, *, on: bool = True) -> None:
    put(Presenting(lesson, on=on, began=time.time(), classroom=_new_class() if on else ""))


def _new_class() -> str:
    """The code of a class that this visitor opens; empty where the disk does not take it."""
    with suppress(OSError):
        return open_class(visitor())
    return ""


def open_lesson() -> list[Problem]:
    """Read the lesson in a link, once; returns what in it was ignored."""
    given, now = carried_in(st.query_params.to_dict()), presenting()
    met = st.session_state.get(f"{KEY}.met")
    st.session_state[f"{KEY}.met"] = given
    if not given or given == met or (now is not None and given == now.carried()):
        return []
    if "lesson" not in given:
        return [Problem(name, given[name], "only in a link that also names a lesson") for name in given]
    try:
        lesson = from_code(given["lesson"])
    except ConfigError as error:
        return list(error.problems)
    at, ignored = given.get("at", "1"), list[Problem]()
    if not (at.isascii() and at.isdigit() and 1 <= int(at) <= len(lesson.steps)):
        ignored, at = [Problem("at", at, f"a step of the lesson, 1 to {len(lesson.steps)}")], "1"
    classroom = given.get("class", "")
    if classroom and not FORM.fullmatch(classroom):
        ignored, classroom = [*ignored, Problem("class", classroom, "the code in a link that Present makes")], ""
    put(Presenting(lesson, int(at) - 1, on=given.get("present") == "true", began=time.time(), classroom=classroom))
    return ignored


def link_of(lesson: Lesson, base: str, *, present: bool, classroom: str = "") -> str:
    """The full link to the first step of a lesson. ``base``: the address of the app, with a slash at its end. ``classroom``: the code
    of the one in which the guesses of those who open it are counted."""
    first = lesson.steps[0]
    query = {**first.query, **Presenting(lesson, on=present, classroom=classroom).carried()}
    return f"{base}{file_of(first).removesuffix('.py')}?{urlencode(query)}"


def base_address(page: str) -> str:
    """The address of the app, with a slash at its end. ``page``: the address of the page that is shown."""
    return (st.context.url or "").split("?")[0].removesuffix("/").removesuffix(page)


def only_here(link: str) -> str:
    """A warning where a link works on this machine only, else an empty text."""
    here = urlsplit(link).hostname in ("localhost", "127.0.0.1")
    return (
        "This address works on this machine only. Open the app by the name that your class can reach." if here else ""
    )


def _uncounted(now: Presenting) -> str:
    """A warning where guesses are asked for and there is no class in which they are counted, else an empty text."""
    if now.classroom or not any(step.issue for step in now.lesson.steps):
        return ""
    return "Guesses are not counted: no class is open, or the disk is full. Press P twice to try again."


@lru_cache
def qr_code(link: str) -> str:
    """The link as a QR code, an SVG drawing, black on white in both themes; empty where the link is too long for one (2,953 bytes)."""
    try:
        code = segno.make(link, micro=False)
    except segno.DataOverflowError:
        return ""
    return code.svg_inline(scale=4, dark="#1B2330", light="#FFFFFF", border=2, omitsize=True)


def show_qr_code(link: str, width: int | Literal["content"] = "content") -> None:
    """The link as a QR code, ``width`` pixels wide, or why there is none."""
    if drawing := qr_code(link):
        st.image(drawing, width=width)
    else:
        st.caption(TOO_LONG)


def show_presenter(file: str) -> None:
    """Follow the keys of a keyboard or a presenter's remote, and listen to the next ones. ``file``: of the page that is shown.

    The keys are followed before anything is drawn: a script run never shows the beat that they have left. A lesson that is not presented
    has a row with its steps instead.
    """
    for pressed in _pressed():
        now = presenting()
        if pressed == "present" or (now is not None and now.on):
            _follow(pressed, now, file)
    now, on = presenting(), presented()
    style = (HERE / "presenting.css").read_text("utf-8") if on else "/* not presented */"
    st.html(f"<style>{style}</style>")  # always there: what is only taken away goes last, and boards would still see it
    data: dict[str, object] = {"on": on, "received": st.session_state[RECEIVED]}
    if now is not None and on:  # only who presents shows the code
        base = base_address(file.removesuffix(".py").replace("_", "-"))
        link = link_of(now.lesson, base, present=False, classroom=now.classroom)
        drawing = qr_code(link)
        data |= {
            "left": now.lesson.minutes * 60 - (time.time() - now.began),
            "place": f"{now.at + 1} of {len(now.lesson.steps)}",
            "code": {
                "open": now.beat == CODE,
                "link": link,
                "drawing": drawing,
                "problem": "" if drawing else TOO_LONG,
                "warning": " ".join(filter(None, (only_here(link), _uncounted(now)))),
            },
        }
    with st.container(key="presenter"):
        listening_script(HERE / "presenting.js")(key=SCRIPT, data=data, on_pressed_change=nothing)
    if now is not None and not on and (pressed := _row(now)):
        _follow(pressed, now, file)
        st.rerun()


def _pressed() -> Iterator[str]:
    """The presses to follow, in their order; a step to another page leaves the rest to the script run of that page.

    The browser keeps a press, and sends it again with each later one, until a script run has confirmed its number. So none is lost,
    whatever the page draws meanwhile, and none counts twice.
    """
    sent = [(int(number), str(press)) for number, press in st.session_state.get(SCRIPT, {}).get("pressed") or ()]
    last = max((number for number, _ in sent), default=0)
    # What a page still sends that has lost its session was followed there.
    received = st.session_state.setdefault(RECEIVED, last)
    waiting: list[str] = st.session_state.setdefault(WAITING, [])
    waiting += [press for number, press in sent if number > received]
    st.session_state[RECEIVED] = max(received, last)
    while waiting:
        yield waiting.pop(0)


def _row(now: Presenting) -> str:
    """The steps of a lesson that is gone through alone; returns what was pressed."""
    last = len(now.lesson.steps) - 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson-row"):
        words = f"{now.lesson.title} · step {now.at + 1} of {last + 1}"
        if now.classroom:
            words += " · this class counts guesses, without names"
        st.markdown(f":gray[:material/route: {words}]", width="stretch")
        pressed = {
            "back": st.button("Step back", icon=":material/arrow_back:", type="tertiary", disabled=now.at == 0),
            "next": st.button("Next step", icon=":material/arrow_forward:", type="tertiary", disabled=now.at == last),
            "present": st.button("Present", icon=":material/co_present:", type="tertiary", help="The key P"),
            "leave": st.button("Leave", icon=":material/close:", type="tertiary", help="Leave the lesson; you stay on this page."),
        }  # fmt: skip
    return next((name for name, was in pressed.items() if was), "")


def _follow(pressed: str, now: Presenting | None, file: str) -> None:
    """Do what a key or a button says; nothing where it means nothing now."""
    if now is None:
        slug = meant(st.query_params.get("issue", ""), ISSUES)
        if pressed == "present" and file == ISSUES_FILE and slug in ISSUES:
            start_lesson(Lesson(ISSUES[slug].title, (LessonStep(10, slug),)))
        return
    match pressed:
        case "present":
            classroom = now.classroom or ("" if now.on else _new_class())
            put(replace(now, on=not now.on, beat=0, classroom=classroom))
        case "leave":
            put(None)
        case "next" if now.on and not now.last_beat:
            put(replace(now, beat=now.beat + 1))
        case "next" if now.at + 1 < len(now.lesson.steps):
            go_to(now, now.at + 1)
        case "back" if now.on and now.beat > (0 if now.at else CODE):
            put(replace(now, beat=now.beat - 1))
        case "back" if now.at > 0:
            earlier = replace(now, at=now.at - 1)
            _note_run(earlier)
            go_to(earlier, earlier.at, beat=len(earlier.beats) - 1)
        case key if key in GUESSES and now.step.issue and now.beat <= now.beats.index("guess"):
            st.session_state[GUESS] = GUESSES.index(key)
            put(replace(now, beat=now.beats.index("guess")))


def file_of(step: LessonStep) -> str:
    """The file of the page that a step opens."""
    return ISSUES_FILE if step.issue else LAB_FILE


def go_to(now: Presenting, at: int, beat: int = 0) -> None:
    """Open a step of the lesson, from its beginning or at a later beat."""
    there = replace(now, at=at, beat=beat)
    put(there)
    st.switch_page(file_of(there.step), query_params={**there.step.query, **there.carried()})
