"""A question with its three answers and the verdict on a guess, and the guesses of a session."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import cast

import streamlit as st

from engine.experiments.question import ANSWERS, Direction, Question
from pages.parts.app.in_markdown import escaped
from pages.parts.charts.attention import weights_image

GUESSES = "guesses"  # session key: the guesses by the name of their question

CLOSED = " (closed)"
UNREAD = "This run did not finish. Train again to get an answer."


@dataclass(frozen=True)
class Guess:
    answer: Direction | None = None
    size: float | None = None  # the number expected in the second row of an issue's figure


def guess_of(name: str) -> Guess:
    return cast(Guess, st.session_state.get(GUESSES, {}).get(name, Guess()))


def keep_guess(name: str, guess: Guess) -> None:
    st.session_state.setdefault(GUESSES, {})[name] = guess


def keep_answer(name: str, answer: Direction) -> None:
    keep_guess(name, replace(guess_of(name), answer=answer))


def ask_here(question: Question, name: str, *, disabled: bool = False) -> None:
    ask(question, f"guess.{name}", guess_of(name).answer, lambda answer: keep_answer(name, answer), disabled=disabled)


def ask(
    question: Question, key: str, guess: Direction | None, take: Callable[[Direction], None], *, disabled: bool = False
) -> None:
    """Draw the three answers. ``take`` stores another answer than ``guess``."""
    if disabled or st.session_state.get(key) != guess:  # the browser may show a guess that came too late
        st.session_state[key] = guess
    # A callback, because a press of Run right afterwards may end this script run sooner.
    st.segmented_control(
        f"Your guess{CLOSED if disabled else ''}", ANSWERS, format_func=lambda answer: escaped(question.in_words(answer)),
        key=key, disabled=disabled, required=True, width="stretch", on_change=lambda: take(st.session_state[key]),
    )  # fmt: skip
    if question.pictures:
        st.html(_pictures(question))


def _pictures(question: Question) -> str:
    drawn = "".join(
        f'<figure><figcaption>{escape(words.split(":")[0])}</figcaption><img src="{weights_image(weights)}" alt=""></figure>'
        for weights, words in zip(question.pictures, question.answers, strict=True)
    )
    return f'<div class="answer-pictures">{drawn}</div>'


def guess_result(
    question: Question, guess: Direction | None, right: tuple[Direction, ...], size: str = "", of_size: str = "Right."
) -> str:
    """The guess and the result, in Markdown.

    ``right``: empty where the runs do not decide. ``size``: the end of the sentence on the guess. ``of_size``: the
    sentence for a right guess.
    """
    sentence = f"You said: *{escaped(question.in_words(guess))}*{size}" if guess is not None else ""
    if not right:
        return f"{sentence}. These runs do not decide it.".removeprefix(". ")
    if guess in right:
        return f":green[:material/check:] {sentence}. **{of_size}**"
    result = escaped(question.in_words(right[0]))
    if guess is None:
        return f"**{result}.**"
    decider = "The teacher says" if question.taught else "Measured"
    return f":orange[:material/close:] {sentence}. {decider}: **{result}**."
