"""A reader's guess about an issue, of which the address of a run keeps a copy; after the run it is compared with what was found."""

from dataclasses import replace

import streamlit as st

from engine.experiments.bounds import is_share
from engine.experiments.key_figure import KeyFigure, Outcome
from engine.experiments.question import Direction
from pages.parts.stage.question import Guess, ask, guess_of, keep_guess, verdict


def ask_guess(slug: str, figure: KeyFigure, *, disabled: bool) -> Guess:
    """The three answers; return the guess."""

    def take(answer: Direction) -> None:
        keep_guess(slug, replace(guess_of(slug), answer=answer))

    ask(figure.asks, f"guess.{slug}", guess_of(slug).answer, take, disabled=disabled)
    return guess_of(slug)


def ask_size(slug: str, figure: KeyFigure) -> None:
    """The size as a number; where the figure has a mark from the start, the same is set by dragging it."""
    unit = f" ({figure.unit})" if figure.unit else ""
    drag = " Drag the circle, or type it" if is_share(figure.before.metric) else ""
    key, size = f"guess.size.{slug}", guess_of(slug).size
    if st.session_state.get(key) != size:  # it was dragged
        st.session_state[key] = size
    st.number_input(
        f"And the number{unit}?{drag}", value=None, step=0.05 if not figure.unit else 1.0,
        format="%.3g", placeholder="optional", key=key,
        on_change=lambda: keep_guess(slug, replace(guess_of(slug), size=st.session_state[key])),
    )  # fmt: skip


def answered(figure: KeyFigure, guess: Guess, outcome: Outcome) -> str:
    """What was guessed beside what came out, in Markdown; empty without a guess."""
    if guess.answer is None:
        return ""
    if guess.size is None:
        return verdict(figure.asks, guess.answer, outcome.right)
    told = f"The direction is right; measured is {figure.written(outcome.after)}."
    return verdict(figure.asks, guess.answer, outcome.right, f", to {figure.written(guess.size)}", told)
