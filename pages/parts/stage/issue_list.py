"""The list of all issues, by group, each with a mark where this reader has run it; and which run of each this reader looks at."""

import streamlit as st

from engine.experiments.experiment import Experiment
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Group, Issue
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.visitor import Visitor
from pages.parts.stage.claims import LOOKS, Color
from pages.parts.stage.experiments import EXPERIMENTS, own_running

PAGE = "issues.py"
RAN = "issues.ran"
"""Session key: the name of the shown run by issue."""


def state_of(issue: Issue, visitor: Visitor) -> tuple[str, str, Color] | None:
    """The words, icon and colour of the reader's own run: running, or what it found about the first claim; None where there is none."""
    if own_running(issue):
        return "Running", ":material/hourglass_top:", "blue"
    _, own = shown_run(issue)
    if own is None or not own.trials:
        return None
    found = own.report.claims[0].weighed
    return f"Yours: {found.words}", *LOOKS[found.finding]


def in_groups() -> dict[Group, list[Issue]]:
    """The issues of every group in the registry's order."""
    return {group: [issue for issue in ISSUES.values() if issue.group == group] for group in GROUPS}


def issue_link(issue: Experiment, label: str = "", icon: str | None = None) -> None:
    st.page_link(PAGE, label=label or issue.title, icon=icon, query_params={"issue": issue.slug})


def show_small_map(visitor: Visitor) -> None:
    """Only titles, for the start page; with a mark where this reader has run one."""
    with st.container(key="issues-small-map", gap="small"):
        for column, (group, issues) in zip(st.columns(len(GROUPS), gap="large"), in_groups().items(), strict=True):
            with column, st.container(gap="xsmall"):
                st.markdown(f"**{GROUPS[group]}**")
                for issue in issues:
                    state = state_of(issue, visitor)
                    issue_link(issue, icon=state[1] if state else ":material/help_center:")


def shown_runs() -> dict[str, str]:
    runs: dict[str, str] = st.session_state.setdefault(RAN, {})
    return runs


def shown_run(issue: Issue) -> tuple[str, ExperimentRun | None]:
    """The name of the run that is looked at and the run, if this server still holds it: where none was chosen, the reader's own that
    goes now, which then stays in sight."""
    name = shown_runs().get(issue.slug) or own_running(issue)
    if name:
        shown_runs()[issue.slug] = name
    return name, EXPERIMENTS.find(name)
