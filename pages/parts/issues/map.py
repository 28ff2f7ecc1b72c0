"""The map of all issues: a tile for each with its question, its minutes and, once the reader has run it, its figure; and the way from one
to the next."""

import streamlit as st

from engine.experiments.evidence.shipped import shipped_result
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Issue
from engine.foundation.once import once
from pages.parts.charts.experiments.key_figure import thumbnail
from pages.parts.charts.experiments.stack import stack_thumbnail
from pages.parts.experiments.question import guess_of
from pages.parts.experiments.running import answer_mark, found_mark, issue_link, running_of_visitor
from pages.parts.experiments.shown import key_numbers

START = ("missing-mask", "missing-skips", "no-encoding")
"""The issues to begin with: each is short, and its result can be seen at once."""


def show_map() -> None:
    """The tiles to begin with, then a column of tiles for each group."""
    revealed = st.toggle("Show what was found", key="issues.revealed", help="Or see each answer after your own run.")
    with st.container(key="issues-map"):
        for column, words in (("start", "Start here"), *GROUPS.items()):
            with st.container(key=f"map-{column}-heading"):
                st.header(words, anchor=False)
            for issue in ISSUES.values():
                if column == ("start" if issue.slug in START else issue.group):
                    _tile(column, issue, revealed)


def _tile(column: str, issue: Issue, revealed: bool) -> None:
    """The figure is the answer: until the end of the reader's own run, or behind the switch, the model stands in its place."""
    guessed = ("Guessed", ":material/edit:", "gray") if guess_of(issue.slug).answer is not None else None
    ended = found_mark(issue)
    found, drawn = shipped_of(issue.slug) if revealed or ended else ("", model_of(issue.slug))
    mark = ("Running", ":material/hourglass_top:", "blue") if running_of_visitor(issue) else ended or guessed
    done = f":{mark[2]}-badge[{mark[1]} {mark[0]}]" if mark else ""
    with st.container(border=True, key=f"map-{column}-tile-{issue.slug}", gap=None):
        issue_link(issue)
        st.markdown(f"{issue.key_figure.question}\n\n{' · '.join(filter(None, (f'{issue.minutes} min', done, found)))}")
        st.html(drawn)


@once
def shipped_of(slug: str) -> tuple[str, str]:
    """The numbers before and after in the shipped evidence and the answer, in Markdown, and the thumbnail; without evidence the model."""
    issue = ISSUES[slug]
    found = shipped_result(issue, issue.key_figure)
    if found is None:
        return "", model_of(slug)
    before, after = map(issue.key_figure.written, (found.finding.before, found.finding.after))
    drawn = thumbnail(key_numbers(issue, found.report)["rows"], issue.key_figure.scale, found.finding.sentence)
    finding = found.report.claim(issue.key_figure.claim).finding
    answer, icon, color = answer_mark(issue, found.finding, finding)
    return f"Stored: **{before} → {after}** :{color}-badge[{icon} {answer}]", drawn


@once
def model_of(slug: str) -> str:
    return stack_thumbnail(ISSUES[slug])


def show_way(issue: Issue) -> None:
    """A link to the issue after this one, and from the last one to the first. The tab of the page leads to the map."""
    order = [one for group in GROUPS for one in ISSUES.values() if one.group == group]
    with st.container(key="issues-way", width="content"):
        issue_link(order[(order.index(issue) + 1) % len(order)], "Next", ":material/arrow_forward:")
