"""The count of hands: students who opened a presented lesson by its link guess on their own screens, and the wall counts them."""

from collections.abc import Callable

import streamlit as st

from engine.experiments.classroom import Hands, hands, keep_guess
from engine.experiments.key_figure import ANSWERS, Answer, KeyFigure
from pages.parts.app.visitor import visitor
from pages.parts.issues.guess import in_words
from pages.parts.stage.presenting import presenting

TICK = 1.0
"""Seconds between two counts while the class guesses."""
COUNTED = "issues.counted"
"""Session key: the guess that was counted last, by classroom and issue."""


def count_guess(slug: str, answer: Answer | None) -> None:
    """Count the guess of a student in the class; nothing for everybody else."""
    now = presenting()
    if now is None or now.on or not now.classroom:
        return
    counted: dict[tuple[str, str], Answer | None] = st.session_state.setdefault(COUNTED, {})
    place = (now.classroom, slug)
    if place not in counted or counted[place] != answer:
        keep_guess(now.classroom, visitor().id, slug, answer)
        counted[place] = answer


def show_hands(slug: str, figure: KeyFigure, found: Answer | None) -> None:
    """On the wall: how many have guessed, and once the guessing is over, what. ``found``: what the runs say, if they say it yet."""
    now = presenting()
    if now is None or not now.on or not now.classroom:
        return
    code, guessing = now.classroom, now.beat < now.beats.index("run")
    words: Callable[[Hands], str] = so_far if guessing else lambda raised: in_the_end(figure, raised, found)

    def show() -> None:
        raised = hands(code, slug)
        if raised.students:
            st.markdown(words(raised))

    st.fragment(show, run_every=TICK if guessing else None)()


def so_far(raised: Hands) -> str:
    return f":material/groups: **{sum(raised.guesses.values())} of {raised.students}** students have guessed."


def in_the_end(figure: KeyFigure, raised: Hands, found: Answer | None) -> str:
    """The number of students per answer, and how many of them are right."""
    counts = " · ".join(f"{in_words(figure, answer)} **{raised.guesses.get(answer, 0)}**" for answer in ANSWERS)
    said = f":material/groups: The class: {counts}"
    if found is None:
        return said
    return f"{said}  \n**{raised.guesses.get(found, 0)} of {sum(raised.guesses.values())}** right."
