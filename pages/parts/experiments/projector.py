"""The projector of a class: the state that it sends to the participants, and their responses."""

from contextlib import suppress
from html import escape

import streamlit as st

from engine.experiments.classroom import Phase, ProjectorState, Responses, responses, show_projector
from engine.experiments.lessons import to_code
from engine.experiments.question import ANSWERS, Direction
from pages.parts.app.frame import as_fragment
from pages.parts.app.visitor import visitor
from pages.parts.experiments.presenting import CODE, Presenting, guesses_closed, presenting

COUNT_SECONDS = 1.0  # between two counts while the class answers
RESULT = "projector.result"  # session key: the right answers, the sentence and the reason, by lesson and step


def lead_participants(now: Presenting) -> None:
    if now.on and now.classroom:
        lesson, phase = to_code(now.lesson), _phase(now)
        result = st.session_state.get(RESULT, {}).get((now.began, now.at), ()) if phase == "told" else ()
        with suppress(OSError):  # on a full disk participants wait for the next press
            show_projector(now.classroom, visitor(), ProjectorState(lesson, now.at, phase, now.round, *result))


def send_home(now: Presenting) -> None:
    with suppress(OSError):
        show_projector(now.classroom, visitor(), ProjectorState(to_code(now.lesson), now.at, "over"))


def tell_participants(right: tuple[Direction, ...], sentence: str, because: str = "") -> None:
    """Send the result of the presented step. Participants get it once the projector shows the sentence."""
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
    """Draw the number of guesses and, after the guessing, the guesses. ``right``: the answers that the projector
    shows as right."""
    now = presenting()
    if now is None or not now.on or not now.classroom:
        return
    question, guessing = now.step.question, not guesses_closed()
    if question is None:
        return

    def show() -> None:
        class_responses = responses(now.classroom, now.at)
        if class_responses.students and guessing:
            st.markdown(so_far(class_responses))
        elif class_responses.guesses:
            st.html(bars(question.answers, class_responses, right))

    as_fragment(show, every=COUNT_SECONDS if guessing else None)


def so_far(class_responses: Responses) -> str:
    given = sum(class_responses.guesses.values())
    waiting = f" · waiting for {class_responses.waiting}" if class_responses.waiting else ""
    return f":material/groups: **{given} of {class_responses.students}** have guessed{waiting}"


def bars(answers: tuple[str, str, str], class_responses: Responses, right: tuple[Direction, ...]) -> str:
    counts = {answer: class_responses.guesses.get(answer, 0) for answer in ANSWERS}
    given, most = sum(counts.values()), max(1, *counts.values())
    share = f"{sum(counts[answer] for answer in right)} of {given} right" if right and given else ""
    words = ", ".join(f"{words} {counts[answer]}" for words, answer in zip(answers, ANSWERS, strict=True))
    columns = "".join(
        f"<div{' class=right' if answer in right else ''}><b>{counts[answer]}</b>"
        f'<i style="--share: {counts[answer] / most:.2f}"></i><span>{escape(words)}</span></div>'
        for words, answer in zip(answers, ANSWERS, strict=True)
    )
    sentence = escape(f"The class: {words}" + (f"; {share}" if share else ""))
    return f'<div class="responses" role="img" aria-label="{sentence}">{columns}<p>{share}</p></div>'
