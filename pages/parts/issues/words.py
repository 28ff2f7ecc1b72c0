"""The text of an issue: claim, mechanism, sources, remedies, published numbers, notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from engine.experiments.frames import published_frame
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Issue
from engine.experiments.trial import Trial
from pages.parts.charts.stack import stack_svg
from pages.parts.issues.drawing import show_drawing
from pages.parts.issues.map import PAGE, issue_link, wrapping
from pages.parts.issues.states import COLORS, ICONS, State


def show_way(issue: Issue) -> None:
    """Links to the map, the issue before and the one after."""
    order = [one for group in GROUPS for one in ISSUES.values() if one.group == group]
    place = order.index(issue)
    with wrapping("issues-way", horizontal=True):
        st.page_link(PAGE, label="All issues", icon=":material/apps:", query_params={})
        if place > 0:
            issue_link(order[place - 1], f"Previous: {order[place - 1].title}", ":material/arrow_back:")
        if place + 1 < len(order):
            issue_link(order[place + 1], f"Next: {order[place + 1].title}", ":material/arrow_forward:")


def show_claim(issue: Issue, state: State) -> None:
    st.title(issue.title, anchor=False)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.badge(GROUPS[issue.group], color="blue")
        st.badge(f"on this machine: {state}", icon=ICONS[state], color=COLORS[state])
    st.markdown(issue.summary)


def show_mechanism(issue: Issue) -> None:
    words, drawing = st.columns([2.2, 1], gap="large")
    with words:
        st.subheader("Why it would happen", anchor=False)
        st.html("<style>.st-key-issues-mechanism .katex-display { overflow: auto hidden; }</style>")
        with st.container(key="issues-mechanism"):  # its style lets a long formula scroll on a phone
            st.markdown(with_formulas_apart(issue.mechanism))
        st.caption(sources_in_words(issue.sources))
    with drawing:
        show_drawing(stack_svg(issue), key=f"drawing.{issue.slug}")
        st.caption("Coloured: what the arms change.", text_alignment="center")


def with_formulas_apart(text: str) -> str:
    """``$$...$$`` as a paragraph of its own: only then is it rendered as a display formula."""
    return re.sub(r"\s*\$\$(.+?)\$\$\s*", lambda found: f"\n\n$$\n{found[1].strip()}\n$$\n\n", text, flags=re.DOTALL)


def sources_in_words(sources: Sequence[str]) -> str:
    """One sentence; it gets a full stop unless a title ends with a question mark."""
    words = "Sources: " + "; ".join(sources)
    return words if words.endswith((".", "?", "!")) else f"{words}."


def show_remedies(issue: Issue) -> None:
    st.subheader("What to do about it", anchor=False)
    st.markdown("\n".join(f"- {line}" for line in issue.remedies))


def show_notes(issue: Issue) -> None:
    if issue.notes:
        st.subheader("How it is measured", anchor=False)
        st.markdown("\n".join(f"- {note}" for note in issue.notes))


def show_published(issue: Issue, trials: Sequence[Trial] | None) -> None:
    """Published numbers and ours in one table, and the differences of the experiments."""
    if not issue.published:
        return
    st.subheader("Published numbers beside ours", anchor=False)
    for published in issue.published:
        st.markdown(f"**{published.source}.** {published.what}")
        frame = published_frame(published, trials or ())
        number = st.column_config.NumberColumn
        formats = {name: number(format="%.3g" if name not in published.columns else "%g") for name in frame.columns}
        st.dataframe(
            frame, placeholder="", column_config={"_index": st.column_config.TextColumn(pinned=True), **formats}
        )
        if published.differs:
            st.caption(f"What differs: {published.differs}")
        if trials is None:
            st.caption("Ours come with the first run.")
