"""A reader's guess about an issue, kept in the session and in the address of a run; after the run it is compared with what was found."""

from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import streamlit as st

from engine.experiments.bounds import is_share
from engine.experiments.key_figure import ANSWERS, Direction, KeyFigure, Outcome, in_words
from pages.parts.stage.wall import verdict

GUESSES = "issues.guesses"
"""Session key: the guesses by issue."""


@dataclass(frozen=True)
class Guess:
    answer: Direction | None = None
    size: float | None = None
    """The number expected in the second row; None where the reader named none."""


def guess_of(slug: str) -> Guess:
    return cast(Guess, st.session_state.get(GUESSES, {}).get(slug, Guess()))


def keep(slug: str, guess: Guess) -> None:
    st.session_state.setdefault(GUESSES, {})[slug] = guess


def put_guess(slug: str, guess: Guess) -> None:
    """Keep a guess, and let its widgets show it."""
    keep(slug, guess)
    st.session_state[_widget(slug)], st.session_state[_widget(slug, "size.")] = guess.answer, guess.size


def ask_guess(slug: str, figure: KeyFigure, *, disabled: bool) -> Guess:
    """The three answers, and on wish the size."""

    def take() -> None:  # before the script runs: a press of Run that comes at once may end that run sooner
        chosen: Direction | None = st.session_state[_widget(slug)]
        keep(slug, Guess(chosen, guess_of(slug).size if chosen is not None else None))

    if disabled:  # whatever the browser shows of a guess that was chosen just before Run
        st.session_state[_widget(slug)] = guess_of(slug).answer
    st.segmented_control(
        "Your guess", ANSWERS, format_func=partial(in_words, figure.answers), key=_widget(slug), disabled=disabled,
        persist_state="session", width="stretch", on_change=take,
    )  # fmt: skip
    return guess_of(slug)


def ask_size(slug: str, figure: KeyFigure) -> None:
    """The size as a number; where the figure has a mark from the start, the same is set by dragging it."""
    unit = f" ({figure.unit})" if figure.unit else ""
    drag = " Drag the circle, or type it" if is_share(figure.before.metric) else ""
    key = _widget(slug, "size.")
    if key not in st.session_state:
        st.session_state[key] = guess_of(slug).size
    st.number_input(
        f"And the number{unit}?{drag}", value=None, step=0.05 if not figure.unit else 1.0,
        format="%.3g", placeholder="optional", key=key,
        on_change=lambda: keep(slug, replace(guess_of(slug), size=st.session_state[key])),
    )  # fmt: skip


def answered(figure: KeyFigure, guess: Guess, outcome: Outcome) -> str:
    """What was guessed beside what came out, in Markdown; empty without a guess."""
    if guess.answer is None:
        return ""
    if guess.size is None:
        return verdict(figure.answers, guess.answer, outcome.right)
    told = f"The direction is right; measured is {figure.written(outcome.after)}."
    return verdict(figure.answers, guess.answer, outcome.right, f", to {figure.written(guess.size)}", told)


def _widget(slug: str, of: str = "") -> str:
    return f"guess.{of}{slug}"
