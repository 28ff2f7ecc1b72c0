"""The wall of a class: what it lets the phones follow, how many of them have answered, and what."""

from contextlib import suppress
from html import escape

import streamlit as st

from engine.experiments.classroom import Phase, ProjectorState, Responses, responses, show_projector
from engine.experiments.lessons import to_code
from engine.experiments.question import ANSWERS, Direction
from pages.parts.app.frame import as_fragment
from pages.parts.app.visitor import visitor
from pages.parts.experiments.presenting import CODE, Presenting, guesses_closed, presenting

COUNT_SECONDS = 1.0
"""Seconds between two counts while the class answers."""
RESULT = "wall.told"
"""Session key: the right answers, the sentence and the reason, by lesson and step."""


def lead_participants(now: Presenting) -> None:
    """Let the phones of the class follow the step and the phase that are shown; where the disk does not take it, they stay behind until the
    next press."""
    if now.on and now.classroom:
        lesson, phase = to_code(now.lesson), _phase(now)
        result = st.session_state.get(RESULT, {}).get((now.began, now.at), ()) if phase == "told" else ()
        with suppress(OSError):
            show_projector(now.classroom, visitor(), ProjectorState(lesson, now.at, phase, now.round, *result))


def send_home(now: Presenting) -> None:
    """The presenter leaves the lesson: its phones are told that it has ended."""
    with suppress(OSError):
        show_projector(now.classroom, visitor(), ProjectorState(to_code(now.lesson), now.at, "over"))


def tell_participants(right: tuple[Direction, ...], sentence: str, because: str = "") -> None:
    """Keep what the runs of the presented step say, for the phones to be told once the wall tells it."""
    now = presenting()
    if now is not None and now.on and now.classroom:
        st.session_state.setdefault(RESULT, {})[now.began, now.at] = (right, sentence, because)
        lead_participants(now)


def _phase(now: Presenting) -> Phase:
    if now.over:
        return "over"
    if now.phase == CODE:
        return "wait"
    if now.step.question is None:
        return "look"
    if not now.past_guessing:
        return "look" if guesses_closed() else "guess"
    if now.training:
        return "seeds"
    return "told" if now.shows("sentence") else "look"


def show_responses(right: tuple[Direction, ...]) -> None:
    """How many have guessed, and once the guessing is over, what; nothing where no phone is in the class. ``right``: the answers that the
    wall has told."""
    now = presenting()
    if now is None or not now.on or not now.classroom:
        return
    question, guessing = now.step.question, not guesses_closed()
    if question is None:
        return

    def show() -> None:
        raised = responses(now.classroom, now.at)
        if raised.students and guessing:
            st.markdown(so_far(raised))
        elif raised.guesses:
            st.html(bars(question.answers, raised, right))

    as_fragment(show, every=COUNT_SECONDS if guessing else None)


def so_far(raised: Responses) -> str:
    given = sum(raised.guesses.values())
    waiting = f" · waiting for {raised.waiting}" if raised.waiting else ""
    return f":material/groups: **{given} of {raised.students}** have guessed{waiting}"


def bars(answers: tuple[str, str, str], raised: Responses, right: tuple[Direction, ...]) -> str:
    """The answers of a class as bars, in HTML, each with its number of students; the right ones stand out."""
    counts = {answer: raised.guesses.get(answer, 0) for answer in ANSWERS}
    given, most = sum(counts.values()), max(1, *counts.values())
    found = f"{sum(counts[answer] for answer in right)} of {given} right" if right and given else ""
    words = ", ".join(f"{words} {counts[answer]}" for words, answer in zip(answers, ANSWERS, strict=True))
    columns = "".join(
        f"<div{' class=right' if answer in right else ''}><b>{counts[answer]}</b>"
        f'<i style="--share: {counts[answer] / most:.2f}"></i><span>{escape(words)}</span></div>'
        for words, answer in zip(answers, ANSWERS, strict=True)
    )
    sentence = escape(f"The class: {words}" + (f"; {found}" if found else ""))
    return f'<div class="responses" role="img" aria-label="{sentence}">{columns}<p>{found}</p></div>'
