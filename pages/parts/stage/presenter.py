"""The presenter of a lesson: the keys of a keyboard or a remote, the QR code of the link, and the row of steps of who goes alone, or of a
class's phone that has left the wall to explore."""

import time
from contextlib import suppress
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from engine.experiments.class_seeds import class_seeds
from engine.experiments.classroom import HERE_EVERY, empty_class, hands
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.lessons import Lesson, LessonStep
from engine.foundation.formatting import counted
from engine.settings.names import meant
from pages.parts.app.frame import as_fragment, last_received, received
from pages.parts.app.in_markdown import escaped
from pages.parts.app.own_runs import shown_run
from pages.parts.app.visitor import visitor
from pages.parts.boards.component import joined
from pages.parts.stage import presenting as held
from pages.parts.stage.handouts import TOO_LONG, base_address, only_here, qr_code
from pages.parts.stage.wall import TICK, lead_phones, send_home

HERE = Path(__file__).parent
SCRIPT = "presenter.script"
"""The key of the component that listens to the keys."""
WAITING, RECEIVED = "presenter.waiting", "presenter.received"
"""Session keys: the presses that are still to be followed, and the number of the last one received."""
GO_ON, EMPTY_IT = "Go on?", "Let go of"
"""The end of the question before the presenter goes on, and the beginning of that before the class is emptied."""
GUESSES = ("1", "2", "3")
"""The keys of the three guesses, in the order of :data:`engine.experiments.question.ANSWERS`."""


def show_presenter(file: str) -> None:
    """Follow the keys of a keyboard or a presenter's remote, and listen to the next ones. ``file``: of the page that is shown.

    The keys are followed before anything is drawn: a script run never shows the beat that they have left. A lesson that is not presented
    has a row with its steps instead.
    """
    waiting: list[str] = st.session_state.setdefault(WAITING, [])
    while waiting:  # a step to another page leaves the rest to the script run of that page
        pressed, now = waiting.pop(0), held.presenting()
        if pressed == "present" or (now is not None and now.on):
            _follow(pressed, now, file)
    held.keep_to_step(file)
    now, on = held.presenting(), held.presented()
    style = (HERE / "presenter.css").read_text("utf-8") if on else "/* not presented */"
    st.html(f"<style>{style}</style>")  # always there: what is only taken away goes last, and boards would still see it
    data: dict[str, object] = {"on": on, "received": last_received(RECEIVED)}
    if now is not None and on:  # only who presents shows the code
        base = base_address(file.removesuffix(".py").replace("_", "-"))
        link = f"{base}classroom?class={now.classroom}" if now.classroom else held.link_of(now.lesson, base)
        drawing = qr_code(link)
        data |= {
            "left": now.step.minutes * 60 - (time.time() - now.step_began),
            "place": f"{now.at + 1} of {len(now.lesson.steps)}",
            "over": now.over,
            "code": {
                "open": now.beat == held.CODE,
                "title": now.lesson.title or "Lesson",
                "link": link,
                "drawing": drawing,
                "problem": "" if drawing else TOO_LONG,
                "note": " ".join(filter(None, (_here(now), only_here(link), now.note, _uncounted(now)))),
            },
        }
    with st.container(key="presenter"):
        _script()(key=SCRIPT, data=data, on_pressed_change=_receive)
        st.html(f'<div class="lesson-note" role="alert">{escape(now.note) if now is not None and on else ""}</div>')
        if now is not None and on and now.classroom:
            here = _here(now)

            def look() -> None:  # again and again: while its wall stands here, the class is held
                if (latest := held.presenting()) is not None:
                    lead_phones(latest)
                if _here(now) != here:
                    st.rerun()

            as_fragment(look, every=TICK if here else HERE_EVERY)
    if (code := held.joined_class()) and not on and file != held.CLASS_FILE:
        _way_back(code)
    if now is not None and not on and (pressed := _row(now)):
        _follow(pressed, now, file)
        st.rerun()


def _receive() -> None:
    """Take the presses that the script tells, before the script run: whatever interrupts it, they wait."""
    told = (st.session_state.get(SCRIPT) or {}).get("pressed")
    st.session_state.setdefault(WAITING, []).extend(str(press.get("key")) for press in received(told, RECEIVED))


@st.cache_resource
def _script() -> Any:
    return st.components.v2.component("attention_lab_presenter", js=joined(HERE / "presenter.js"))


def _here(now: held.Presenting) -> str:
    """How many phones show the class, at the beat of its code; else an empty text."""
    if not now.on or not now.classroom or now.beat != held.CODE:
        return ""
    phones = len(hands(now.classroom, now.at).here)
    return f"{counted(phones, 'phone')} {'is' if phones == 1 else 'are'} here."


def _uncounted(now: held.Presenting) -> str:
    """A warning where guesses are asked for and there is no class in which they are counted, else an empty text."""
    if now.classroom or not any(step.question for step in now.lesson.steps):
        return ""
    return "Guesses are not counted: no class is open, or the disk is full. Press P twice to try again."


def _way_back(code: str) -> None:
    """The row of a phone that explores: back to the class, or out of it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="class-row"):
        st.page_link(held.CLASS_FILE, label="Back to the class", icon=":material/groups:", query_params={"class": code})
        st.button("Leave the class", icon=":material/close:", type="tertiary", on_click=held.join_class, args=("",))


def _row(now: held.Presenting) -> str:
    """The steps of a lesson that is gone through alone; returns what was pressed."""
    last = len(now.lesson.steps) - 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson-row"):
        title = escaped(now.lesson.title or "Lesson")
        st.markdown(f":gray[:material/route: {title} · step {now.at + 1} of {last + 1}]", width="stretch")
        pressed = {
            "back": st.button("Step back", icon=":material/arrow_back:", type="tertiary", disabled=now.at == 0),
            "next": st.button("Next step", icon=":material/arrow_forward:", type="tertiary", disabled=now.at == last),
            "present": st.button("Present", icon=":material/co_present:", type="tertiary", help="The key P"),
            "leave": st.button("Leave", icon=":material/close:", type="tertiary", help="Leave the lesson; you stay on this page."),
        }  # fmt: skip
    return next((name for name, was in pressed.items() if was), "")


def _follow(pressed: str, now: held.Presenting | None, file: str) -> None:
    """Do what a key or a button says; nothing where it means nothing now."""
    if now is None:
        slug = meant(st.query_params.get("issue", ""), ISSUES, RENAMED)
        if pressed == "present" and file == held.ISSUES_FILE and slug in ISSUES and not held.joined_class():
            held.start_lesson(Lesson(ISSUES[slug].title, (LessonStep(ISSUES[slug].minutes, slug),)))
        return
    if pressed == "empty":
        return _empty(now)
    if pressed == "next" and (question := _unanswered(now)) and not now.note.endswith(GO_ON):
        return held.put(replace(now, note=question))
    was_over, now = now.over, replace(now, over=False, training=False, note="")
    match pressed:
        case "back" if was_over:
            held.put(now)
        case "present":
            now = now if now.on or now.classroom else held.with_class(now)
            held.put(replace(now, on=not now.on, beat=0))
        case "leave":
            if now.classroom:
                send_home(now)
            held.put(None)
        case "next" if now.on and now.beat < len(now.beats) - 1:
            held.put(replace(now, beat=now.beat + 1))
        case "next" if now.at + 1 < len(now.lesson.steps):
            held.go_to(now, now.at + 1)
        case "next":
            held.put(replace(now, over=True))
        case "back" if now.on and now.beat > (0 if now.at else held.CODE):
            held.put(replace(now, beat=now.beat - 1))
        case "back" if now.at > 0:
            earlier = replace(now, at=now.at - 1)
            held.note_run(earlier)
            held.go_to(earlier, earlier.at, beat=len(earlier.beats) - 1)
        case "seeds" if now.on and now.classroom and now.step.issue and now.shows("guess"):
            # What the wall has told stays there. Else the next key tells it: from stored seeds, too, whatever has come from phones.
            told = now.shows("sentence") or (now.shows("run") and not now.round)
            held.note_run(now)
            beat = now.beats.index("sentence" if told else "figure")
            held.put(replace(now, beat=beat, round=now.round + 1, training=True))
        case key if key in GUESSES and now.step.question and not held.guesses_closed():
            st.session_state[held.GUESS] = GUESSES.index(key)
            held.put(replace(now, beat=now.beats.index("guess")))


def _unanswered(now: held.Presenting) -> str:
    """The question whether to go on where phones are here and nobody has answered, or where a run has not; else an empty text."""
    if now.on and now.beats == held.LAB_BEATS and now.beat == len(now.beats) - 1 and (run := shown_run()) and run.live:
        return f"The training has not ended. {GO_ON}"
    if not now.on or not now.classroom or not now.step.question:
        return ""
    given = hands(now.classroom, now.at)
    if now.training:
        answered = bool(class_seeds(now.classroom, now.at, now.round).this_round)
    else:
        answered = bool(given.guesses) or held.guesses_closed() or now.beats[now.beat] != "guess"
    return "" if answered or not given.here else f"0 of {len(given.here)} have answered. {GO_ON}"


def _empty(now: held.Presenting) -> None:
    """Empty the class, once the presenter has pressed the key twice."""
    if not now.on or not now.classroom:
        return
    note = f"{EMPTY_IT} {counted(hands(now.classroom, now.at).students, 'student')}, with all guesses? Press E again."
    if now.note.startswith(EMPTY_IT):
        note = "The disk does not take it."
        with suppress(OSError):
            empty_class(now.classroom, visitor())
            note = "The class is empty. Phones that are here enter it again."
    held.put(replace(now, note=note))
