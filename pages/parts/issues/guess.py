"""A reader's guess about an issue, made before the run and kept in the session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from engine.experiments.key_figure import ANSWERS, Answer, KeyFigure, Outcome
from pages.parts.charts.experiments.arms import is_share

GUESSES = "issues.guesses"
"""Session key: the guesses by issue."""


@dataclass(frozen=True)
class Guess:
    answer: Answer | None = None
    size: float | None = None
    """The number expected in the second row; None where the reader named none."""


def guess_of(slug: str) -> Guess:
    found: Guess = st.session_state.get(GUESSES, {}).get(slug, Guess())
    return found


def keep(slug: str, guess: Guess) -> None:
    st.session_state.setdefault(GUESSES, {})[slug] = guess


def ask_guess(slug: str, figure: KeyFigure, *, disabled: bool) -> Guess:
    """The three answers, and on wish the size."""
    key = f"guess.{slug}"
    chosen = st.segmented_control(
        "Your guess", ANSWERS, format_func=partial(in_words, figure), key=key, disabled=disabled,
        persist_state="session", width="stretch",
    )  # fmt: skip
    before = guess_of(slug)
    if chosen != before.answer:
        keep(slug, Guess(chosen, before.size if chosen is not None else None))
    return guess_of(slug)


def ask_size(slug: str, figure: KeyFigure) -> None:
    """The size as a number; where the figure has a mark from the start, the same is set by dragging it."""
    unit = f" ({figure.unit})" if figure.unit else ""
    drag = " Drag the circle, or type it" if is_share(figure.before.metric) else ""
    key = f"guess.size.{slug}"
    if key not in st.session_state:
        st.session_state[key] = guess_of(slug).size
    st.number_input(
        f"And the number{unit}?{drag}", value=None, step=0.05 if not figure.unit else 1.0,
        format="%.3g", placeholder="optional", key=key,
        on_change=lambda: keep(slug, replace(guess_of(slug), size=st.session_state[key])),
    )  # fmt: skip


def take_dragged(slug: str, x: float) -> None:
    """The reader has dragged the mark to ``x``."""
    size = float(f"{x:.2g}")
    keep(slug, replace(guess_of(slug), size=size))
    st.session_state[f"guess.size.{slug}"] = size


def answered(figure: KeyFigure, guess: Guess, outcome: Outcome) -> str:
    """What was guessed beside what came out, in Markdown; empty without a guess."""
    if guess.answer is None:
        return ""
    said = f"You said: *{in_words(figure, guess.answer)}*"
    if guess.size is not None:
        said += f", to {figure.written(guess.size)}"
    if outcome.answer is None:
        return f"{said}. The seeds do not decide it."
    if outcome.answer == guess.answer:
        right = (
            "Right." if guess.size is None else f"The direction is right; measured is {figure.written(outcome.after)}."
        )
        return f":green[:material/check:] {said}. **{right}**"
    return f":orange[:material/close:] {said}. Measured: **{in_words(figure, outcome.answer).lower()}**."


def in_words(figure: KeyFigure, answer: Answer) -> str:
    return figure.answers[ANSWERS.index(answer)]
