"""The reader's guesses about single claims, kept in the session, and afterwards compared with the findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from engine.experiments.experiment import Claim
from engine.experiments.issues.issue import Issue
from engine.experiments.report import Report
from engine.experiments.statistics import Finding
from pages.parts.app.glossary import with_terms

CHOICES = (Finding.HOLDS, Finding.NONE, Finding.OPPOSITE)
Prediction = Mapping[int, Finding]
"""What is expected of each claim, by its place."""


def prediction_of(issue: Issue) -> Prediction:
    """The reader's guesses so far in this session."""
    return {
        place: st.session_state[key]
        for place in range(len(issue.claims))
        if st.session_state.get(key := _key(issue, place)) in CHOICES
    }


def ask_prediction(issue: Issue, extended: bool) -> None:
    """A row for each claim with its three possible findings."""
    claims = issue.claims_of(extended)
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
    """Each guess beside its finding, marked right or wrong."""
    rows = compared(prediction, report)
    if not rows:
        return
    right = sum(row.right for row in rows)
    with st.container(border=True):
        st.markdown(f"**Your guesses on single claims: {right} of {len(rows)} right**")
        for row, claim in zip(rows, with_terms(*(row.claim for row in rows)), strict=True):
            mark = ":green[:material/check:]" if row.right else ":orange[:material/close:]"
            st.markdown(f"{mark} {claim}  \n:gray[You said “{row.said}”; found is “{row.found}”.]")


@dataclass(frozen=True)
class Compared:
    claim: str
    said: str
    found: str
    right: bool


def compared(prediction: Prediction, report: Report) -> list[Compared]:
    return [
        Compared(row.claim.sentence, guess.words, row.finding.words, guess == row.finding)
        for place, row in enumerate(report.claims)
        if (guess := prediction.get(place)) is not None
    ]


def sentence_of(claim: Claim) -> str:
    about = {"issue": "", "condition": ":gray-badge[a condition] ", "remedy": ":green-badge[a remedy] "}[claim.about]
    condition = f" :gray[Condition: {claim.condition}]" if claim.condition else ""
    return f"{about}{claim.sentence}{condition}"


def _key(issue: Issue, place: int) -> str:
    return f"predict.{issue.slug}.{place}"
