"""What is known about each issue: the reader's own run, and the evidence that comes with this version."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import streamlit as st

from engine.experiments.finding import FINDINGS, in_words
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.published import ShippedResult, shipped_result
from engine.foundation.visitor import Visitor
from pages.parts.issues.state import shown_run
from pages.parts.stage.experiments import EXPERIMENTS
from pages.parts.stage.looks import LOOKS, Color


@dataclass(frozen=True)
class State:
    words: str
    icon: str
    color: Color


def state_of(issue: Issue, visitor: Visitor) -> State | None:
    """The reader's own run: running, or what it found about the first claim; None where the reader has run none."""
    running = EXPERIMENTS.running_of(visitor)
    run = EXPERIMENTS.find(running) if running else None
    if run is not None and run.experiment.slug == issue.slug:
        return State("Running", ":material/hourglass_top:", "blue")
    _, own = shown_run(issue)
    if own is None or not own.trials:
        return None
    claim = own.report.claims[0]
    return State(f"Yours: {in_words(claim.finding, claim.weighed.seeds)}", *LOOKS[claim.finding])


@cache
def result_of(slug: str) -> ShippedResult | None:
    """What the shipped evidence says about an issue's question."""
    return shipped_result(ISSUES[slug], ISSUES[slug].key_figure)


def say_result(issue: Issue, found: ShippedResult) -> None:
    """The effect as before and after, in large type, and the finding."""
    icon, color = LOOKS[found.finding]
    written = issue.key_figure.written
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f"**{written(found.outcome.before)} → {written(found.outcome.after)}**", width="content")
        st.badge(FINDINGS[found.finding], icon=icon, color=color)
