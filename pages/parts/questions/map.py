"""The map of all questions: a tile for each with its figure, veiled until the reader has guessed; and the way from one to the next."""

import streamlit as st

from engine.experiments.answer import QUESTION
from engine.experiments.evidence.shipped import shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Issue
from engine.foundation.once import once
from pages.parts.charts.experiments.key_figure import thumbnail
from pages.parts.experiments.question import guess_of
from pages.parts.experiments.running import issue_link, running_of_visitor
from pages.parts.experiments.shown import key_numbers
from pages.parts.questions.conclusions import conclusion, in_doubt, in_numbers, in_short
from pages.parts.questions.state import FOUND, SETTINGS

START = ("missing-mask", "missing-skips", "no-encoding")
"""The issues to begin with: each is short, and its result can be seen at once."""

INTRODUCTION = "Pick a question, guess, then see what was measured."


def show_map() -> None:
    """The tiles to begin with, then a column of tiles for each group. With the findings, the question of the documents follows, with its
    answer in short and the number of claims."""
    found = bool(SETTINGS.values()[FOUND])
    SETTINGS.widget(FOUND)
    st.markdown("[Short answer](#short-answer)" if found else INTRODUCTION)
    with st.container(key="questions-map"):
        for column, words in (("start", "Start here"), *GROUPS.items()):
            with st.container(key=f"map-{column}-heading"):
                st.header(words, anchor=False)
            if column == "start":
                _depth_tile(found)
            for issue in ISSUES.values():
                if column == ("start" if issue.slug in START else issue.group):
                    _tile(column, issue, found)
    if found:
        st.header("The short answer", anchor="short-answer")
        st.markdown(f"*{QUESTION}* {in_short()} {in_doubt()}\n\n{in_numbers()}")


def _tile(column: str, issue: Issue, found: bool) -> None:
    with st.container(border=True, key=f"map-{column}-tile-{issue.slug}", gap=None):
        issue_link(issue)
        st.html(small_figure(issue.slug, veiled=not found and guess_of(issue.slug).answer is None))
        running = " · :blue-badge[:material/hourglass_top: Running]" if running_of_visitor(issue) else ""
        below = conclusion(issue) if found else f"{issue.minutes} min"
        st.markdown(f"{below}{running}")


def _depth_tile(found: bool) -> None:
    """The way to the dial of depth, which needs no training."""
    with st.container(border=True, key="map-start-tile-depth", gap=None):
        st.page_link("depth.py", label="What does depth alone do?")
        if not found:
            st.markdown("Turn one dial from 1 to 48 layers. Nothing trains.")


@once
def small_figure(slug: str, *, veiled: bool) -> str:
    """The key figure of an issue from the shipped evidence, in HTML; empty without evidence."""
    issue = ISSUES[slug]
    found = shipped_result(issue, issue.key_figure)
    if found is None:
        return ""
    numbers = key_numbers(issue, found.report)
    words = "" if veiled else f"{issue.key_figure.quantity}: {found.finding.sentence}"
    return thumbnail(numbers["rows"], share=numbers["share"], words=words)


def show_way(issue: Issue) -> None:
    """A link to the question after this one, and from the last one to the first. The bar leads to the map."""
    order = [one for group in GROUPS for one in ISSUES.values() if one.group == group]
    issue_link(order[(order.index(issue) + 1) % len(order)], "Next", ":material/arrow_forward:")
