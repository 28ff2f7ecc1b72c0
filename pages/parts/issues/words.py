"""The text of an issue: claim, mechanism, sources, remedies, published numbers, notes."""

import re
from collections.abc import Sequence
from typing import Any

import streamlit as st

from engine.experiments.frames import published_frame
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Issue
from engine.experiments.trial import Trial
from pages.parts.app.glossary import with_terms
from pages.parts.charts.experiments.stack import stack_svg
from pages.parts.stage.issue_list import issue_link

DRAWING = """
export default function ({ data: [drawing], parentElement }) {
  parentElement.querySelector(".drawing").innerHTML = drawing
}
"""
DRAWING_STYLE = ".drawing { color: var(--st-text-color); font-family: var(--st-font); }"


def show_way(issue: Issue) -> None:
    """A link to the issue after this one, and from the last one to the first. The tab of the page leads to the map."""
    order = [one for group in GROUPS for one in ISSUES.values() if one.group == group]
    with st.container(key="issues-way", width="content"):
        issue_link(order[(order.index(issue) + 1) % len(order)], "Next", ":material/arrow_forward:")


def show_why(issue: Issue) -> None:
    """The explanation and what to do about it, with links to the terms in them, and the sources."""
    summary, mechanism, *remedies = with_terms(issue.summary, issue.mechanism, *issue.remedies)
    st.markdown(summary)
    words, drawing = st.columns([2.2, 1], gap="large")
    with words:
        st.markdown(with_formulas_apart(mechanism))
    with drawing:
        _drawing()(key=f"drawing.{issue.slug}", data=[stack_svg(issue)])
        st.caption("Coloured: what the arms change.", text_alignment="center")
    st.subheader("What to do about it", anchor=False)
    st.markdown("\n".join(f"- {line}" for line in remedies))
    st.markdown("\n".join(f"- [{source.citation}]({source.url})" for source in issue.sources))


@st.cache_resource
def _drawing() -> Any:
    """An SVG drawing in the colours of the page: Streamlit's own elements either drop SVG or isolate it from the theme. It is put into the
    page unchanged: names in it are escaped already."""
    html = '<div class="drawing"></div>'
    return st.components.v2.component("attention_lab_drawing", html=html, css=DRAWING_STYLE, js=DRAWING)


def with_formulas_apart(text: str) -> str:
    """``$$...$$`` as a paragraph of its own: only then is it rendered as a display formula."""
    return re.sub(r"\s*\$\$(.+?)\$\$\s*", lambda found: f"\n\n$$\n{found[1].strip()}\n$$\n\n", text, flags=re.DOTALL)


def show_published(issue: Issue, trials: Sequence[Trial] | None) -> None:
    """Published numbers and ours in one table, and the differences of the experiments."""
    if not issue.published:
        return
    st.subheader("Published numbers beside ours", anchor=False)
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    for published in issue.published:
        st.markdown(f"**{published.source}.** {published.what}")
        frame = published_frame(published, trials or ())
        formats = {name: number(format="%.3g" if name not in published.columns else "%g") for name in frame.columns}
        st.dataframe(frame, placeholder="", column_config={"_index": text(pinned=True), **formats})
        if published.differs:
            st.caption(f"What differs: {published.differs}")
        if trials is None:
            st.caption("Ours come with the first run.")
