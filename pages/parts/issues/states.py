"""What is known about each issue: the evidence that comes with this version."""

from __future__ import annotations

from functools import cache

import streamlit as st

from engine.experiments.evidence.shipped import ShippedResult, shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from pages.parts.stage.claims import LOOKS


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
        st.badge(found.finding.words, icon=icon, color=color)
