"""The map of all issues: a tile for each with its question, its minutes and, once the reader has guessed or run it, its figure."""

from functools import cache
from pathlib import Path

import streamlit as st

from engine.experiments.evidence.shipped import pooled_report, shipped_result
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Issue
from engine.foundation.visitor import Visitor
from pages.parts.charts.experiments.key_figure import thumbnail
from pages.parts.issues.guess import guess_of
from pages.parts.stage.claims import LOOKS, badge
from pages.parts.stage.ended import key_numbers
from pages.parts.stage.issue_list import in_groups, issue_link, state_of
from pages.parts.stage.shown import Shown

STYLE = Path(__file__).parent / "map.css"
START = ("missing-mask", "missing-skips", "no-encoding")
"""The issues to begin with: each is short, and its result can be seen at once."""
VEILED = '<div class="thumbnail veiled" role="img" aria-label="The figure shows after your guess.">?</div>'


def show_map(visitor: Visitor) -> None:
    """The tiles to begin with, then a column of tiles for each group."""
    revealed = st.toggle(
        "Show what was found", key="issues.revealed", help="Otherwise each answer shows after your own guess."
    )
    st.html(STYLE)
    with st.container(key="issues-map"):
        _heading("start", "Start here")
        for slug in START:
            _tile("start", ISSUES[slug], visitor, revealed)
        for group, issues in in_groups().items():
            _heading(group, GROUPS[group])
            for issue in issues:
                if issue.slug not in START:
                    _tile(group, issue, visitor, revealed)


def _heading(column: str, words: str) -> None:
    with st.container(key=f"map-{column}-heading"):
        st.header(words, anchor=False)


def _tile(column: str, issue: Issue, visitor: Visitor, revealed: bool) -> None:
    state, guessed = state_of(issue, visitor), guess_of(issue.slug).answer is not None
    found, drawn = shipped_of(issue.slug)
    open_now = bool(found) and (revealed or guessed or state is not None)
    marks = [f"{issue.minutes} min"]
    if state or guessed:
        words, icon, color = state or ("Guessed", *LOOKS[Finding.HOLDS])
        marks.append(f":{color}-badge[{icon} {words}]")
    with st.container(border=True, key=f"map-{column}-tile-{issue.slug}", gap=None):
        issue_link(issue)
        st.markdown(f"{issue.key_figure.question}\n\n{' · '.join([*marks, found] if open_now else marks)}")
        st.html(drawn if open_now else VEILED)


@cache
def shipped_of(slug: str) -> tuple[str, str]:
    """The numbers before and after and the finding of the shipped evidence, in Markdown, and the thumbnail; empty without evidence."""
    issue = ISSUES[slug]
    report, found = pooled_report(issue), shipped_result(issue, issue.key_figure)
    if report is None or found is None:
        return "", ""
    numbers = key_numbers(issue, Shown.of(report, "shipped"))
    outcome, written = found.outcome, issue.key_figure.written
    said = f"**{written(outcome.before)} → {written(outcome.after)}** {badge(found.finding, found.finding.words)}"
    return said, thumbnail(numbers["rows"], numbers["scale"], outcome.sentence)
