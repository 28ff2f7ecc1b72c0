"""The page of documented issues: a map, and each issue as a live controlled experiment at its own link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.published import shipped_reports
from engine.experiments.store import latest_verdict
from pages.parts.app.in_markdown import say_ignored
from pages.parts.app.session import session_id
from pages.parts.issues.controls import asked, extended, forget, offer_more_seeds, predicted, run_settings
from pages.parts.issues.map import show_lesson, show_map
from pages.parts.issues.prediction import ask_prediction, show_comparison
from pages.parts.issues.state import ISSUE, SETTINGS, shown_run
from pages.parts.issues.states import state_of
from pages.parts.issues.words import (
    show_claim,
    show_mechanism,
    show_notes,
    show_published,
    show_remedies,
    show_way,
)
from pages.parts.stage.arms import show_arms
from pages.parts.stage.evidence import follow, in_step_with, show_stored
from pages.parts.stage.shown import Shown, fits, of_latest, of_shipped
from pages.parts.stage.take_away import take_away

STORED = "issues.kept"
NEVER_FADED = "<style>.st-key-issues-evidence [data-stale=true] { opacity: 1 !important; }</style>"
"""A busy machine answers late; Streamlit would fade the figures meanwhile, although they are still valid."""


def show_all() -> None:
    st.title("Issues", anchor=False)
    st.markdown(
        "What can go wrong in a deep stack of self-attention on positional encoding: each claim is an experiment that runs here, "
        "one thing changed at a time, several seeds, and a verdict computed from them."
    )
    show_lesson()
    show_map(session_id())


def show_issue(issue: Issue) -> None:
    name, run = shown_run(issue)
    with in_step_with(run):
        show_way(issue)
        show_claim(issue, state_of(issue, session_id()))
        show_mechanism(issue)
        show_arms(issue, extended(), asked(issue).first_seed)
        ask_prediction(issue, extended(), disabled=run is not None)
        st.subheader("The experiment", anchor=False)
        run_settings(issue, run)
        shown: Shown | None = None
        st.html(NEVER_FADED)
        # A fixed container: the elements above must not change the index of those below, which would remount.
        with st.container(key="issues-evidence"):
            if run is not None:
                shown = follow(name, run)
                if run.state != "running":
                    show_comparison(predicted(name), run.report)
                    offer_more_seeds(issue, run)
                    st.button("Predict anew", icon=":material/replay:", on_click=forget, args=(issue,))
            elif shown := choose_stored(issue):
                # A name of its own: figures are kept by name, and the last script run may have shown another one.
                show_stored(f"{issue.slug}.{shown.seeds}.{shown.stamp}", shown)
        if shown is not None:
            take_away(shown)
        show_remedies(issue)
        show_published(issue, shown.trials if shown is not None else None)
        show_notes(issue)


def choose_stored(issue: Issue) -> Shown | None:
    """The earlier results that the reader chooses to see; by default none, so that a prediction comes first."""
    there: dict[str, Callable[[], Shown | None]] = {}
    if latest_verdict(issue.slug):
        there["the last run on this machine"] = partial(of_latest, issue)
    for found in shipped_reports(issue.slug):
        if fits(issue, found):
            words = f"seeds {found.seeds[0]} to {found.seeds[-1]}, measured when this version was made"
            there[words] = partial(of_shipped, issue, found)
    if not there:
        return None
    chosen = st.pills("Without a run of your own, show", list(there), key=STORED)
    return there[chosen]() if chosen in there else None


_, ignored = SETTINGS.open_address()
say_ignored(ignored)
slug = SETTINGS.values()[ISSUE]
if slug is None:
    show_all()
else:
    show_issue(ISSUES[slug])
SETTINGS.write_address(SETTINGS.query())
