"""The map of all issues: three groups, the state of each on this machine, an order for a lesson."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Group, Issue
from engine.foundation.visitor import Visitor
from pages.parts.issues.states import COLORS, ICONS, state_of

PAGE = "issues.py"
LESSON = (
    ("missing-mask", 7),
    ("no-encoding", 7),
    ("missing-skips", 7),
    ("no-normalization", 6),
    ("position-shortcut", 8),
    ("longer-sequences", 8),
    ("overfitting-depth", 7),
)
"""Slugs and minutes, fifty in all; each experiment runs while the class guesses. Slugs outside the registry are skipped."""
ABOUT_GROUP: dict[Group, str] = {
    "depth": "What stacking brings and breaks.",
    "attention": "What looking everywhere costs and allows.",
    "encoding": "How the model is told where a token stands.",
}


def lesson() -> list[tuple[Issue, int]]:
    return [(ISSUES[slug], minutes) for slug, minutes in LESSON if slug in ISSUES]


def in_groups() -> dict[Group, list[Issue]]:
    """The issues of every group in the registry's order."""
    return {group: [issue for issue in ISSUES.values() if issue.group == group] for group in GROUPS}


def issue_link(issue: Issue, label: str = "", icon: str | None = None, **more: str) -> None:
    st.page_link(PAGE, label=label or issue.title, icon=icon, query_params={"issue": issue.slug, **more})


def wrapping(key: str, *, horizontal: bool = False) -> DeltaGenerator:
    """A container in which the titles of links wrap to a second line instead of being cut off."""
    st.html(f"<style>.st-key-{key} a, .st-key-{key} a * {{ white-space: normal; overflow: visible; }}</style>")
    return st.container(key=key, horizontal=horizontal, gap="small")


def show_map(visitor: Visitor) -> None:
    """A card for each issue, a column for each group."""
    with wrapping("issues-map"):
        _cards(visitor)


def _cards(visitor: Visitor) -> None:
    for column, (group, issues) in zip(st.columns(len(GROUPS), gap="medium"), in_groups().items(), strict=True):
        with column:
            st.subheader(GROUPS[group], anchor=False)
            st.caption(ABOUT_GROUP[group])
            for issue in issues:
                with st.container(border=True, gap="xsmall"):
                    state = state_of(issue, visitor)
                    st.badge(state, icon=ICONS[state], color=COLORS[state])
                    issue_link(issue)
                    st.caption(first_sentence(issue.summary))
            if not issues:
                st.caption("No experiment here yet.")


def first_sentence(text: str) -> str:
    head, stop, _ = text.partition(". ")
    return head + stop.strip()


def show_lesson() -> None:
    steps = lesson()
    if not steps:
        return
    words = f"An order for a lesson: {sum(minutes for _, minutes in steps)} minutes"
    with st.expander(words, icon=":material/school:"), wrapping("issues-lesson"):
        st.caption("Open each, let everybody predict, press Run, and talk while the points come in.")
        for place, (issue, minutes) in enumerate(steps, start=1):
            issue_link(issue, f"{place}. {issue.title} · {minutes} min")


def show_small_map(visitor: Visitor) -> None:
    """Only titles and states, for the start page."""
    with wrapping("issues-small-map"):
        for column, (group, issues) in zip(st.columns(len(GROUPS), gap="large"), in_groups().items(), strict=True):
            with column, st.container(gap="xsmall"):
                st.markdown(f"**{GROUPS[group]}**")
                for issue in issues:
                    issue_link(issue, icon=ICONS[state_of(issue, visitor)])
    words = " · ".join(f"{icon} {state}" for state, icon in ICONS.items())
    st.caption(f"On this machine: {words}")
