"""The map of all issues: three groups, the question of each, and on wish what was found."""

from functools import cache

import streamlit as st

from engine.experiments.evidence.shipped import ShippedResult, shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Group, Issue
from engine.foundation.visitor import Visitor
from pages.parts.issues.guess import guess_of
from pages.parts.stage.claims import LOOKS
from pages.parts.stage.issue_list import in_groups, issue_link, state_of, wrapping

ABOUT_GROUP: dict[Group, str] = {
    "depth": "What stacking brings and breaks.",
    "attention": "What looking everywhere costs and allows.",
    "encoding": "How the model is told where a token stands.",
}


def show_map(visitor: Visitor) -> None:
    """A card for each issue, a column for each group. What was found shows once the reader has guessed, or asks for it."""
    revealed = st.toggle(
        "Show what was found", key="issues.revealed", help="Otherwise each answer shows after your own guess."
    )
    with wrapping("issues-map"):
        for column, (group, issues) in zip(st.columns(len(GROUPS), gap="medium"), in_groups().items(), strict=True):
            with column:
                st.header(GROUPS[group], anchor=False)
                st.caption(ABOUT_GROUP[group])
                for issue in issues:
                    with st.container(border=True, gap="xsmall"):
                        _card(issue, visitor, revealed)


def _card(issue: Issue, visitor: Visitor, revealed: bool) -> None:
    issue_link(issue)
    st.markdown(issue.key_figure.question)
    if state := state_of(issue, visitor):
        words, icon, color = state
        st.badge(words, icon=icon, color=color)
    if (revealed or guess_of(issue.slug).answer is not None) and (found := result_of(issue.slug)):
        say_result(issue, found)


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
