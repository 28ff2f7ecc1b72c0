"""The count of hands: students who opened a presented lesson by its link guess on their own screens, and the wall counts them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from engine.experiments.classroom import Hands, enter, hands, keep_guess
from engine.experiments.key_figure import ANSWERS, Direction, KeyFigure
from engine.foundation.errors import NoRoom
from pages.parts.app.visitor import visitor
from pages.parts.issues.guess import Guess, guess_of, in_words, put_guess
from pages.parts.stage.presenting import presenting

TICK = 1.0
"""Seconds between two counts while the class guesses."""
AGAIN = 5.0
"""Seconds until a guess that was not counted is tried again."""
ENTERED = "issues.entered"
"""Session key: the classes in which this student is, by their code."""


@dataclass(frozen=True)
class Entered:
    """A class in which the student is."""

    counted: dict[str, Direction | None]
    """The student's guesses as the class counts them, by issue."""
    found: dict[str, Direction]
    """Those that were there when the student came, and have not been shown yet."""


def find_guess(slug: str) -> None:
    """Let the page of a student show the guess that the class counts already, after a reload, say; nothing for everybody else."""
    code = _code()
    if code and not _enter(code):
        found = _classes()[code].found.pop(slug, None)
        if found is not None and guess_of(slug).answer is None:
            put_guess(slug, Guess(found))


def count_guess(slug: str, answer: Direction | None) -> None:
    """Count the guess of a student in the class, or say why it is not counted and try again; nothing for everybody else."""
    code = _code()
    if code and _uncounted(code, slug, answer):
        st.fragment(partial(_count_again, code, slug, answer), run_every=AGAIN)()


def _count_again(code: str, slug: str, answer: Direction | None) -> None:
    if why := _uncounted(code, slug, answer):
        st.caption(f":orange[Your guess is not counted. {why} It is tried again every {AGAIN:.0f} seconds.]")
    else:
        st.rerun()


def _uncounted(code: str, slug: str, answer: Direction | None) -> str:
    """Count the guess, if it is not counted yet; returns one sentence where that fails, else nothing."""
    if code not in _classes():
        if why := _enter(code):
            return why
        st.rerun()  # first the guess is shown that the class may count already
    counted = _classes()[code].counted
    if counted.get(slug) == answer:
        return ""
    why = _refusal(lambda: keep_guess(code, visitor(), slug, answer))
    if not why:
        counted[slug] = answer
    return why


def _enter(code: str) -> str:
    """Enter the class, once; returns one sentence where that fails, else nothing."""

    def enter_it() -> None:
        given = enter(code, visitor())
        _classes()[code] = Entered(dict(given), dict(given))

    return "" if code in _classes() else _refusal(enter_it)


def _refusal(act: Callable[[], None]) -> str:
    try:
        act()
    except NoRoom as refusal:
        return str(refusal)
    except OSError as error:
        return f"The disk does not take it ({error.strerror or type(error).__name__})."
    return ""


def _classes() -> dict[str, Entered]:
    found: dict[str, Entered] = st.session_state.setdefault(ENTERED, {})
    return found


def _code() -> str:
    """The code of the class in which this visitor is a student; else nothing."""
    now = presenting()
    return now.classroom if now is not None and not now.on else ""


def show_hands(slug: str, figure: KeyFigure, found: Direction | None) -> None:
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


def in_the_end(figure: KeyFigure, raised: Hands, found: Direction | None) -> str:
    """The number of students per answer, and how many of them are right."""
    counts = " · ".join(f"{in_words(figure, answer)} **{raised.guesses.get(answer, 0)}**" for answer in ANSWERS)
    said = f":material/groups: The class: {counts}"
    if found is None:
        return said
    return f"{said}  \n**{raised.guesses.get(found, 0)} of {sum(raised.guesses.values())}** right."
