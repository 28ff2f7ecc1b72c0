"""The presenter of a lesson: keys, QR code and remaining time. Also the row of steps of a lesson without
presentation, and the way back of a participant who explores."""

import time
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from engine.experiments.class_seeds import class_seeds
from engine.experiments.classroom import PRESENCE_MARK_SECONDS, empty_class, responses
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.lessons import Lesson, LessonStep
from engine.foundation.formatting import counted
from engine.settings.names import resolve_name
from pages.parts.app.frame import address_of, as_fragment, last_received, received
from pages.parts.app.in_markdown import escaped
from pages.parts.app.recent_runs import shown_run
from pages.parts.app.scripts import joined
from pages.parts.app.visitor import visitor
from pages.parts.experiments import presenting as lesson_state
from pages.parts.experiments.handouts import TOO_LONG, base_address, offer_report, only_here, qr_code
from pages.parts.experiments.projector import COUNT_SECONDS, lead_participants, send_home

FOLDER = Path(__file__).parent
SCRIPT = "presenter.script"
WAITING, RECEIVED = "presenter.waiting", "presenter.received"  # session keys: presses to follow, number of the last one


def show_presenter(file: str) -> None:
    """Follow the waiting keys and listen to the next ones. ``file``: the script of the shown page.

    Keys act before anything is drawn, so that no script run shows the phase before them.
    """
    waiting: list[str] = st.session_state.setdefault(WAITING, [])
    while waiting:  # after a change of page, that page's script run takes the rest
        pressed = waiting.pop(0)
        if pressed == "present" or lesson_state.presented():
            _follow(pressed, file)
    lesson_state.keep_to_step(file)
    now, on = lesson_state.presenting(), lesson_state.presented()
    style = (FOLDER / "presenter.css").read_text("utf-8") if on else "/* not presented */"
    # Always there: Streamlit removes an element only at the end of a script run, and boards would still see the style.
    st.html(f'<style class="{"presented" if on else ""}">{style}</style>')
    data: dict[str, object] = {"on": on, "received": last_received(RECEIVED)}
    if now is not None and on:  # the code is for presenters
        base = base_address(address_of(file))
        link = f"{base}classroom?class={now.classroom}" if now.classroom else lesson_state.link_of(now.lesson, base)
        drawing = qr_code(link)
        data |= {
            "left": now.step.minutes * 60 - (time.time() - now.step_began),
            "position": f"{now.at + 1} of {len(now.lesson.steps)}",
            "over": now.over,
            "code": {
                "open": now.phase == lesson_state.CODE,
                "title": now.lesson.title or "Lesson",
                "link": link,
                "drawing": drawing,
                "problem": "" if drawing else TOO_LONG,
                "note": " ".join(filter(None, (_phones_sentence(now), only_here(link), now.note, _uncounted(now)))),
            },
        }
    with st.container(key="presenter"):
        _script()(key=SCRIPT, data=data, on_pressed_change=_receive)
        st.html(f'<div class="lesson-note" role="alert">{escape(now.note) if now is not None and on else ""}</div>')
        if now is not None and on and now.classroom:
            here = _phones_sentence(now)

            def refresh() -> None:  # repeated: an open projector keeps the class alive
                if (latest := lesson_state.presenting()) is not None:
                    lead_participants(latest)
                if _phones_sentence(now) != here:
                    st.rerun()

            as_fragment(refresh, every=COUNT_SECONDS if here else PRESENCE_MARK_SECONDS)
    if (code := lesson_state.joined_class()) and not on and file != lesson_state.CLASS_FILE:
        _way_back(code)
    if now is not None and not on and (pressed := _row(now)):
        _follow(pressed, file)
        st.rerun()


def _receive() -> None:
    """Queue the presses before the script run: an interrupted run does not lose them."""
    message = (st.session_state.get(SCRIPT) or {}).get("pressed")
    st.session_state.setdefault(WAITING, []).extend(str(press.get("key")) for press in received(message, RECEIVED))


@st.cache_resource
def _script() -> Any:
    return st.components.v2.component("attention_lab_presenter", js=joined(FOLDER / "presenter.js"))


def _phones_sentence(now: lesson_state.Presenting) -> str:
    """The number of participants, in a sentence; empty after the phase of the QR code."""
    if not now.on or not now.classroom or now.phase != lesson_state.CODE:
        return ""
    participants = len(responses(now.classroom, now.at).present)
    return f"{counted(participants, 'phone')} {'is' if participants == 1 else 'are'} here."


def _uncounted(now: lesson_state.Presenting) -> str:
    """A warning where the lesson asks for guesses and no class counts them; else empty."""
    if now.classroom or not any(step.question for step in now.lesson.steps):
        return ""
    return "Guesses are not counted, because no class is open or the disk is full. Press P twice to try again."


def _way_back(code: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="class-row"):
        st.page_link(
            lesson_state.CLASS_FILE, label="Back to the class", icon=":material/groups:", query_params={"class": code}
        )
        st.button(
            "Leave the class", icon=":material/close:", type="tertiary", on_click=lesson_state.join_class, args=("",)
        )


def _row(now: lesson_state.Presenting) -> str:
    steps = len(now.lesson.steps)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson-row"):
        title = escaped(now.lesson.title or "Lesson")
        st.markdown(f":gray[:material/route: {title} · step {now.at + 1} of {steps}]", width="stretch")
        pressed = {
            "back": st.button("Step back", icon=":material/arrow_back:", type="tertiary", disabled=now.at == 0),
            "next": now.at + 1 < steps and st.button("Next step", icon=":material/arrow_forward:", type="tertiary"),
            "end": now.at + 1 == steps and st.button("Finish", icon=":material/done_all:", type="tertiary"),
            "present": st.button("Present", icon=":material/co_present:", type="tertiary", help="The key P"),
            "leave": st.button("Leave", icon=":material/close:", type="tertiary", help="You stay on this page."),
        }  # fmt: skip
    if pressed.pop("end"):
        _show_end()
    return next((name for name, was in pressed.items() if was), "")


def _follow(pressed: str, file: str) -> None:
    """Follow a key or button. A change of page ends the script run here. ``file``: the script of the shown page."""
    before = lesson_state.presenting()
    now, effects = lesson_state.next_state(before, pressed, _facts(before, pressed, file))
    for effect in effects:
        match effect:
            case "open class" if now is not None:
                now = lesson_state.with_class(now)
            case "empty class" if now is not None:
                now = replace(now, note=_empty(now))
            case "send home" if before is not None:
                send_home(before)
            case "open step" if now is not None:
                lesson_state.open_step(now)
    if now is not before:
        lesson_state.put(now)


def _facts(now: lesson_state.Presenting | None, pressed: str, file: str) -> lesson_state.Facts:
    if now is None:
        slug = resolve_name(st.query_params.get("issue", ""), ISSUES, RENAMED)
        here = file == lesson_state.QUESTIONS_FILE and slug in ISSUES and not lesson_state.joined_class()
        step = LessonStep(ISSUES[slug].minutes, slug) if here else None
        return lesson_state.Facts(issue=Lesson(step.title, (step,)) if step else None)
    if pressed == "empty" and now.classroom:
        # the class is on disk, so it is read for this key only
        return lesson_state.Facts(students=responses(now.classroom, now.at).students)
    return lesson_state.Facts(_unanswered(now) if pressed == "next" else "")


def _unanswered(now: lesson_state.Presenting) -> str:
    """The question whether to go on before anybody has answered or before the run has ended; else empty."""
    if (
        now.on
        and now.phases == lesson_state.LAB_PHASES
        and now.phase == len(now.phases) - 1
        and (run := shown_run())
        and run.live
    ):
        return f"The training has not ended. {lesson_state.GO_ON}"
    if not now.on or not now.classroom or not now.step.question:
        return ""
    given = responses(now.classroom, now.at)
    if now.training:
        answered = bool(class_seeds(now.classroom, now.at, now.round).this_round)
    else:
        answered = bool(given.guesses) or now.guesses_closed or now.phases[now.phase] != "guess"
    return "" if answered or not given.present else f"0 of {len(given.present)} have answered. {lesson_state.GO_ON}"


def _empty(now: lesson_state.Presenting) -> str:
    try:
        empty_class(now.classroom, visitor())
    except OSError:
        return "Could not save."
    return "The class is empty. Open phones enter it again."


@st.dialog("The end of the lesson")
def _show_end() -> None:
    offer_report()
    st.page_link("questions.py", label="More questions", icon=":material/bug_report:")
    st.page_link("teach.py", label="More lessons", icon=":material/school:")
    if st.button("Leave the lesson", icon=":material/close:", help="You stay on this page."):
        lesson_state.put(None)
        st.rerun()
