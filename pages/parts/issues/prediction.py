"""The reader's predictions before a run, kept in the session, and afterwards compared with the results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from engine.experiments.experiment import Claim
from engine.experiments.issues.issue import Issue
from engine.experiments.report import ClaimReport, Report
from engine.experiments.statistics import Verdict

Guess = Literal["will hold", "will not hold", "cannot be told"]
MEANS: dict[Guess, Verdict] = {"will hold": "shown", "will not hold": "not shown", "cannot be told": "inconclusive"}


@dataclass(frozen=True)
class Prediction:
    """``guesses`` by the index of the claim; ``size`` of the first claim's effect, positive in the claimed direction."""

    guesses: dict[int, Guess]
    size: float | None = None


def prediction_of(issue: Issue) -> Prediction:
    """The reader's predictions so far in this session."""
    guesses = {
        place: st.session_state[key]
        for place in range(len(issue.claims))
        if st.session_state.get(key := _key(issue, place)) in MEANS
    }
    size = st.session_state.get(_key(issue, "size"))
    return Prediction(guesses, size if isinstance(size, int | float) and math.isfinite(size) else None)


def ask_prediction(issue: Issue, extended: bool, *, disabled: bool) -> None:
    st.subheader("Your prediction", anchor=False, help="Before running: what do you expect? Kept in this session only.")
    with st.container(border=True, gap="medium"):
        for place, claim in enumerate(issue.claims):
            if extended or not claim.extended:
                _ask(issue, place, claim, disabled)


def _ask(issue: Issue, place: int, claim: Claim, disabled: bool) -> None:
    sentence, answer = st.columns([1.5, 1], gap="xsmall", vertical_alignment="center")
    sentence.markdown(sentence_of(claim))
    with answer:
        st.segmented_control(
            f"Claim {place + 1}", list(MEANS), key=_key(issue, place), label_visibility="collapsed", disabled=disabled,
            persist_state="session",
        )  # fmt: skip
        if place == 0:
            st.number_input(
                f"How large will the effect be? ({claim.unit})", value=None, step=claim.smallest_effect, format="%.4g",
                placeholder="a number", key=_key(issue, "size"), disabled=disabled, persist_state="session",
                help="Positive the way the claim says.",
            )  # fmt: skip


def show_comparison(prediction: Prediction, report: Report) -> None:
    """Each guess beside its verdict, marked right or wrong."""
    rows = compared(prediction, report)
    if not rows:
        return
    right = sum(row.right for row in rows)
    with st.container(border=True):
        st.markdown(f"**Your prediction: {right} of {len(rows)} right**")
        for row in rows:
            mark = ":green[:material/check:]" if row.right else ":orange[:material/close:]"
            st.markdown(f"{mark} {row.claim}  \n:gray[You said “{row.said}”;] {row.happened}")


@dataclass(frozen=True)
class Compared:
    claim: str
    said: str
    happened: str
    right: bool


def compared(prediction: Prediction, report: Report) -> list[Compared]:
    """The guesses beside the results. A size is right within the 95 % interval, or within the smallest effect of the mean."""
    rows = []
    for place, claim in enumerate(report.claims):
        guess, found = prediction.guesses.get(place), claim.weighed
        if guess is not None:
            rows.append(Compared(claim.claim, guess, f"it is {found.verdict}.", MEANS[guess] == found.verdict))
        if place == 0 and prediction.size is not None and found.effect is not None:
            rows.append(_compared_size(claim, prediction.size, found.effect))
    return rows


def _compared_size(claim: ClaimReport, size: float, effect: float) -> Compared:
    sign = 1 if claim.direction == "more" else -1
    low, high = sorted(sign * bound for bound in (claim.weighed.ci or (effect, effect)))
    measured = sign * effect
    right = low <= size <= high or abs(size - measured) <= claim.smallest_effect
    return Compared(
        "How large the effect is.", f"{size:g}", f"measured is {measured:.3g} {claim.unit} (95 % interval {low:.3g} to {high:.3g}).",
        right,
    )  # fmt: skip


def sentence_of(claim: Claim) -> str:
    about = {"issue": "", "condition": ":gray-badge[condition] ", "remedy": ":green-badge[remedy] "}[claim.about]
    condition = f" :gray[Condition: {claim.condition}]" if claim.condition else ""
    return f"{about}{claim.sentence}{condition}"


def _key(issue: Issue, what: object) -> str:
    return f"predict.{issue.slug}.{what}"
