"""The map of all issues: three groups, the question of each, and on wish what was found."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Group, Issue
from engine.foundation.visitor import Visitor
from pages.parts.issues.guess import guess_of
from pages.parts.issues.states import result_of, say_result, state_of

PAGE = "issues.py"
ABOUT_GROUP: dict[Group, str] = {
    "depth": "What stacking brings and breaks.",
    "attention": "What looking everywhere costs and allows.",
    "encoding": "How the model is told where a token stands.",
}


def in_groups() -> dict[Group, list[Issue]]:
    """The issues of every group in the registry's order."""
    return {group: [issue for issue in ISSUES.values() if issue.group == group] for group in GROUPS}


def issue_link(issue: Issue, label: str = "", icon: str | None = None, **more: str) -> None:
    st.page_link(PAGE, label=label or issue.title, icon=icon, query_params={"issue": issue.slug, **more})


def wrapping(key: str, *, horizontal: bool = False) -> DeltaGenerator:
    """A container in which the titles of links wrap to a second line instead of being cut off, and look like links although they lead to
    this very page."""
    link = f".st-key-{key} a"
    st.html(
        f"<style>{link}, {link} * {{ white-space: normal; overflow: visible; }}"
        f"{link} {{ background: none; padding-inline: 0; }} {link}:hover {{ text-decoration: underline; }}</style>"
    )
    return st.container(key=key, horizontal=horizontal, gap="small")


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
        st.badge(state.words, icon=state.icon, color=state.color)
    if (revealed or guess_of(issue.slug).answer is not None) and (found := result_of(issue.slug)):
        say_result(issue, found)


def show_small_map(visitor: Visitor) -> None:
    """Only titles, for the start page; with a mark where this reader has run one."""
    with wrapping("issues-small-map"):
        for column, (group, issues) in zip(st.columns(len(GROUPS), gap="large"), in_groups().items(), strict=True):
            with column, st.container(gap="xsmall"):
                st.markdown(f"**{GROUPS[group]}**")
                for issue in issues:
                    state = state_of(issue, visitor)
                    issue_link(issue, icon=state.icon if state else ":material/help_center:")
