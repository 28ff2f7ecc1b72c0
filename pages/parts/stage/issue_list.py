"""A link to an issue, the marks of what this reader has run of it, and which of its runs this reader looks at."""

from functools import lru_cache
from pathlib import Path
from typing import cast

import streamlit as st

from engine.experiments.evidence import store
from engine.experiments.experiment import Experiment
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import Outcome, outcome_of
from engine.experiments.running.experiment_run import ExperimentRun
from pages.parts.app.visitor import visitor
from pages.parts.stage.claims import LOOKS, Color
from pages.parts.stage.experiments import EXPERIMENTS, own_running

RAN = "issues.ran"
"""Session key: the name of the shown run by issue."""
Look = tuple[str, str, Color]
"""Words, icon and colour of a mark."""


def found_mark(issue: Issue) -> Look | None:
    """The mark of the reader's own latest run that came to its end: its answer to the question. None where there is none. It outlives
    the session: whose run it was is known by the browser's cookie."""
    file = store.latest_of(visitor().id, issue.slug)
    return _mark_in(file, issue.slug) if file is not None else None


@lru_cache(1000)
def _mark_in(file: Path, slug: str) -> Look | None:
    """The mark of stored evidence. Each file is read once, since it never changes."""
    issue = ISSUES[slug]
    if (found := store.report_in(file, issue)) is None:
        return None
    weighed = found.claim(issue.key_figure.claim).weighed
    words, icon, color = answer_mark(issue, outcome_of(issue.key_figure, found.values, weighed), weighed.finding)
    return f"Yours: {words}", icon, color


def answer_mark(issue: Issue, outcome: Outcome | None, finding: Finding) -> Look:
    """The answer to the issue's question; where the runs give none, the finding on its claim."""
    if outcome is None or outcome.answer is None:
        return finding.words, *LOOKS[finding]
    return issue.key_figure.asks.in_words(outcome.answer), *LOOKS[Finding.HOLDS]


def issue_link(issue: Experiment, label: str = "", icon: str | None = None) -> None:
    st.page_link("issues.py", label=label or issue.title, icon=icon, query_params={"issue": issue.slug})


def shown_runs() -> dict[str, str]:
    return cast(dict[str, str], st.session_state.setdefault(RAN, {}))


def shown_run(issue: Issue) -> tuple[str, ExperimentRun | None]:
    """The name of the run that is looked at and the run, if this server still holds it: where none was chosen, the reader's own that
    goes now, which then stays in sight."""
    name = shown_runs().get(issue.slug) or own_running(issue)
    if name:
        shown_runs()[issue.slug] = name
    return name, EXPERIMENTS.find(name)
