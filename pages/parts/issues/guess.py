"""A reader's guesses about an issue and its single claims, kept in the session and in the address of a run; after the run they are compared
with what was found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import streamlit as st

from engine.experiments.bounds import is_share
from engine.experiments.experiment import Claim
from engine.experiments.finding import Finding
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import ANSWERS, Direction, KeyFigure, Outcome, in_words
from engine.experiments.report import Report
from engine.foundation.formatting import counted
from pages.parts.app.glossary import with_terms
from pages.parts.stage.wall import verdict

GUESSES = "issues.guesses"
"""Session key: the guesses by issue."""
CHOICES = (Finding.HOLDS, Finding.SMALL, Finding.OPPOSITE)
Prediction = Mapping[int, Finding]
"""The finding that is expected of each claim, by its place."""


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


def prediction_of(issue: Issue) -> Prediction:
    """The reader's guesses so far in this session."""
    found = {place: st.session_state.get(_key(issue, place)) for place in range(len(issue.claims))}
    return {place: finding for place, finding in found.items() if finding in CHOICES}


def ask_prediction(issue: Issue, extended: bool) -> None:
    """A row for each claim with its three possible findings."""
    claims = issue.claims_of(issue.arms_of(extended))
    asked = [(place, claim) for place, claim in enumerate(issue.claims) if claim in claims]
    sentences = with_terms(*(sentence_of(claim) for _, claim in asked))
    for (place, _), sentence in zip(asked, sentences, strict=True):
        with st.container(border=True, gap="xsmall"):
            st.markdown(sentence)
            st.segmented_control(
                f"Guess on claim {place + 1}", CHOICES, format_func=lambda found: found.words, key=_key(issue, place),
                label_visibility="collapsed", persist_state="session",
            )  # fmt: skip


def show_comparison(prediction: Prediction, report: Report) -> None:
    """Each guess beside its finding, marked right or wrong; nothing of claims without a guess."""
    rows = [(row, prediction[place]) for place, row in enumerate(report.claims) if place in prediction]
    if not rows:
        return
    right = sum(guess == row.finding for row, guess in rows)
    decided = sum(row.finding.decided for row, _ in rows)
    sentences = with_terms(*(row.claim.sentence for row, _ in rows))
    with st.container(border=True):
        open_ones = f"; {counted(len(rows) - decided, 'claim')} not decided" if decided < len(rows) else ""
        st.markdown(f"**Your guesses on single claims: {right} of {decided} right{open_ones}**")
        for (row, guess), claim in zip(rows, sentences, strict=True):
            mark = ":green[:material/check:]" if guess == row.finding else ":orange[:material/close:]"
            mark = mark if row.finding.decided else ":gray[:material/help:]"
            st.markdown(f"{mark} {claim}  \n:gray[You said “{guess.words}”; found is “{row.finding.words}”.]")


def sentence_of(claim: Claim) -> str:
    about = {"issue": "", "condition": ":gray-badge[a condition] ", "remedy": ":green-badge[a remedy] "}[claim.about]
    condition = f" :gray[Condition: {claim.condition}]" if claim.condition else ""
    return f"{about}{claim.sentence}{condition}"


def _widget(slug: str, of: str = "") -> str:
    return f"guess.{of}{slug}"


def _key(issue: Issue, place: int) -> str:
    return f"predict.{issue.slug}.{place}"
