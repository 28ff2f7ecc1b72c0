"""What stands below the first screen of an issue, a tab for each; only the open one is computed."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from engine.experiments.finding import RULE
from engine.experiments.issues.issue import Issue
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.statistics import LOWEST_P
from pages.parts.app.glossary import links_to_terms
from pages.parts.issues.guess import ask_prediction, prediction_of, show_comparison
from pages.parts.issues.noted import show_share
from pages.parts.issues.rates import show_rates
from pages.parts.issues.state import asked, extended, predicted
from pages.parts.issues.words import show_notes, show_published, show_sources, show_why
from pages.parts.stage.arms import show_arms
from pages.parts.stage.board import Drawing, experiment_board, show_evidence, take_away
from pages.parts.stage.claims import claims_section
from pages.parts.stage.shown import Shown

TAB = "issues.tab"
WHY = "Why"


def show_tabs(issue: Issue, name: str, run: ExperimentRun | None, shown: Shown | None) -> None:
    """The row of tabs and the open one. The explanation opens by itself once there is a result, else when it is asked for."""
    tabs: dict[str, Callable[[], None]] = {
        WHY: partial(show_why, issue),
        "All claims": partial(_claims, issue, name, run, shown),
        "Arms": partial(_arms, issue),
        "Numbers": partial(_numbers, issue, name, run, shown),
        "How measured": partial(_measured, issue, shown),
        "Share": partial(show_share, issue, shown),
    }
    key = f"{TAB}.{issue.slug}"
    _open_by_itself(key, None if shown is None or shown.state == "running" else (name, shown.state, *shown.seeds))
    with st.container(key="issues-tabs"):
        chosen = st.segmented_control(
            "More on this issue", list(tabs), key=key, required=True, label_visibility="collapsed"
        )
        if chosen in tabs:
            tabs[chosen]()


def _open_by_itself(key: str, result: object) -> None:
    """Open the explanation once for each result, unless another tab is open. ``result``: which one is shown; None for none."""
    before = st.session_state.get(f"{key}.opened")
    if result is not None and result != before and not st.session_state.get(key):
        st.session_state[key] = WHY
    st.session_state[f"{key}.opened"] = result or before


def _claims(issue: Issue, name: str, run: ExperimentRun | None, shown: Shown | None) -> None:
    if shown is None:
        st.caption("Before you run it: what do you expect of each claim?")
        ask_prediction(issue, extended())
        return
    drawing = Drawing("claims", lambda shown: [claims_section(shown)])
    experiment_board(drawing, *((f"{issue.slug}.{shown.seeds}", shown) if run is None else (name, run)))
    if links := links_to_terms(*(row.claim.sentence for row in shown.claims)):
        st.caption(f"In the glossary: {links}")
    if shown.state != "running":
        show_comparison(predicted(name) if run is not None else prediction_of(issue), shown)


def _arms(issue: Issue) -> None:
    figure = issue.key_figure
    show_arms(issue, extended(), asked(issue).first_seed, (figure.before.arm, figure.after.arm))
    show_rates(issue, extended())


def _numbers(issue: Issue, name: str, run: ExperimentRun | None, shown: Shown | None) -> None:
    if shown is None:
        st.caption("The numbers come with the first run.")
        return
    # Stored evidence has a name of its own: figures are kept by name, and the last script run may have shown another one.
    show_evidence(*((f"{issue.slug}.{shown.seeds}.{shown.stamp}", shown) if run is None else (name, run)))
    st.caption(LOWEST_P)
    take_away(shown)


def _measured(issue: Issue, shown: Shown | None) -> None:
    """How the numbers came about, and where others have written about them."""
    st.markdown(f"Every arm is trained on the same seeds. {RULE}")
    st.markdown(issue.matched)
    show_notes(issue)
    st.subheader("Sources", anchor=False)
    show_sources(issue)
    show_published(issue, shown.trials if shown is not None else None)
