"""The map of all questions: a tile for each with its figure, veiled until the reader has guessed."""

import streamlit as st

from engine.experiments.conclusions import QUESTION
from engine.experiments.evidence.shipped import shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Issue
from engine.foundation.once import once
from pages.parts.charts.experiments.key_figure import thumbnail
from pages.parts.experiments.experiment_snapshot import key_numbers
from pages.parts.experiments.question import guess_of
from pages.parts.experiments.running import issue_link, running_of_visitor
from pages.parts.questions.conclusions import conclusion, in_doubt, in_numbers, in_short
from pages.parts.questions.state import FOUND, SETTINGS

# short issues with a visible result
START = ("missing-mask", "missing-skips", "no-encoding")

INTRODUCTION = "Pick a question, guess, then see what was measured."


def show_map() -> None:
    with_answers = bool(SETTINGS.values()[FOUND])
    SETTINGS.widget(FOUND)
    st.markdown("[Short answer](#short-answer)" if with_answers else INTRODUCTION)
    with st.container(key="questions-map"):
        for column, words in (("start", "Start here"), *GROUPS.items()):
            with st.container(key=f"map-{column}-heading"):
                st.header(words, anchor=False)
            if column == "start":
                _depth_tile(with_answers)
            for issue in ISSUES.values():
                if column == ("start" if issue.slug in START else issue.group):
                    _tile(column, issue, with_answers)
    if with_answers:
        st.header("The short answer", anchor="short-answer")
        st.markdown(f"*{QUESTION}* {in_short()} {in_doubt()}\n\n{in_numbers()}")


def _tile(column: str, issue: Issue, with_answers: bool) -> None:
    with st.container(border=True, key=f"map-{column}-tile-{issue.slug}", gap=None):
        issue_link(issue)
        if figure := small_figure(issue.slug, veiled=not with_answers and guess_of(issue.slug).answer is None):
            st.html(figure)
        running = " · :blue-badge[:material/hourglass_top: Running]" if running_of_visitor(issue) else ""
        below = conclusion(issue) if with_answers else f"{issue.minutes} min"
        st.markdown(f"{below}{running}")


def _depth_tile(with_answers: bool) -> None:
    with st.container(border=True, key="map-start-tile-depth", gap=None):
        st.page_link("depth.py", label="What does depth alone do?")
        if not with_answers:
            st.markdown("Move one slider from 1 to 48 layers. The models are untrained.")


@once
def small_figure(slug: str, *, veiled: bool) -> str:
    """HTML; empty without stored seeds."""
    issue = ISSUES[slug]
    result = shipped_result(issue, issue.key_figure)
    if result is None:
        return ""
    numbers = key_numbers(issue, result.report)
    words = "" if veiled else f"{issue.key_figure.quantity}: {result.finding.sentence}"
    return thumbnail(numbers["rows"], share=numbers["share"], words=words)


def show_way(issue: Issue) -> None:
    """A link to the next question in the order of the map; after the last one, to the first."""
    order = [one for group in GROUPS for one in ISSUES.values() if one.group == group]
    issue_link(order[(order.index(issue) + 1) % len(order)], "Next", ":material/arrow_forward:")
