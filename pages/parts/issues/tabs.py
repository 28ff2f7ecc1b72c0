"""What stands below the first screen of an issue, a tab for each; only the open one is computed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from engine.experiments.evidence.shipped import shipped_reports
from engine.experiments.experiment import Claim
from engine.experiments.finding import RULE
from engine.experiments.issues.issue import Issue
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.statistics import LOWEST_P
from pages.parts.app.frame import listening_script
from pages.parts.app.glossary import links_to_terms, with_terms
from pages.parts.issues.noted import show_share
from pages.parts.issues.rates import show_rates
from pages.parts.issues.state import asked, extended
from pages.parts.issues.words import show_published, show_why
from pages.parts.stage.arms import show_arms
from pages.parts.stage.board import show_evidence, take_away
from pages.parts.stage.issue_list import shown_runs
from pages.parts.stage.shown import Shown

TAB = "issues.tab"
OPENINGS = "issues.openings"
"""Session key: how often a tab was opened. The script scrolls when the number grows, however late the browser has loaded it."""


def show_tabs(issue: Issue, name: str, run: ExperimentRun | None) -> None:
    """The row of tabs and the open one, which the browser scrolls into sight when it is opened."""
    tabs: dict[str, Callable[[], None]] = {
        "Why": partial(show_why, issue),
        "Evidence": partial(_evidence, issue, name, run),
        "How measured": partial(_measured, issue),
    }
    if issue.slug in shown_runs():
        tabs["Share"] = partial(show_share, issue)
    with st.container(key="issues-tabs"):
        chosen = st.segmented_control(
            "More on this issue", list(tabs), key=f"{TAB}.{issue.slug}", required=True, label_visibility="collapsed",
            on_change=lambda: st.session_state.update({OPENINGS: st.session_state.get(OPENINGS, 0) + 1}),
        )  # fmt: skip
        if chosen in tabs:
            tabs[chosen]()
        listening_script(Path(__file__).parent / "tabs.js")(key="issues.opened", data=st.session_state.get(OPENINGS, 0))


def _evidence(issue: Issue, name: str, run: ExperimentRun | None) -> None:
    """All claims and numbers of one set of seeds, and published numbers. Before Run the claims alone."""
    there = _sets(issue, name, run)
    if not there:
        claims = issue.claims_of(issue.arms_of(extended()))
        st.caption("The claims that Run tests.")
        st.markdown("\n".join(f"- {sentence}" for sentence in with_terms(*map(sentence_of, claims))))
        show_published(issue, None)
        return
    first = next(iter(there))
    chosen = st.segmented_control("Seeds", list(there), default=first, required=True, key=f"set.{issue.slug}")
    shown = show_evidence(*there[chosen or first])
    if links := links_to_terms(*(row.claim.sentence for row in shown.claims)):
        st.caption(f"In the glossary: {links}")
    if any(row.weighed.seeds for row in shown.claims):
        st.caption(LOWEST_P)
    take_away(shown)
    show_published(issue, shown.trials)


def sentence_of(claim: Claim) -> str:
    about = {"issue": "", "condition": ":gray-badge[a condition] ", "remedy": ":green-badge[a remedy] "}[claim.about]
    condition = f" :gray[Condition: {claim.condition}]" if claim.condition else ""
    return f"{about}{claim.sentence}{condition}"


def _sets(issue: Issue, name: str, run: ExperimentRun | None) -> dict[str, tuple[str, ExperimentRun | Shown]]:
    """The sets of seeds that can be shown, each with its name among figures: what is trained here, and what is stored."""
    there: dict[str, tuple[str, ExperimentRun | Shown]] = {"Trained here": (name, run)} if run is not None else {}
    for found in shipped_reports(issue) if issue.slug in shown_runs() else ():
        stored = f"Stored seeds {found.which_seeds}"
        there[stored] = (f"{issue.slug}.{stored}", Shown.of(found, "shipped"))
    return there


def _measured(issue: Issue) -> None:
    st.markdown(f"Every arm is trained on the same seeds. {RULE}")
    if issue.notes:
        st.markdown("\n".join(f"- {note}" for note in with_terms(*issue.notes)))
    figure = issue.key_figure
    show_arms(issue, extended(), asked(issue).first_seed, (figure.before.arm, figure.after.arm))
    show_rates(issue, extended())
