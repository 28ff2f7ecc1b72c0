"""The page of documented issues: a map, and each issue as a live controlled experiment at its own link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from engine.estimate.layout import metric_names
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.published import shipped_reports
from engine.experiments.store import latest_verdict
from pages.parts.app.in_markdown import say_ignored
from pages.parts.app.session import session_id
from pages.parts.charts.arms import metric_label
from pages.parts.issues.address import EXTENDED, FIRST_SEED, key_of, open_address, write_address
from pages.parts.issues.controls import RAN, offer_more_seeds, predicted, run_settings
from pages.parts.issues.map import show_lesson, show_map
from pages.parts.issues.prediction import ask_prediction, show_comparison
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
from pages.parts.stage.board import experiment_board, kept_board
from pages.parts.stage.experiments import EXPERIMENTS
from pages.parts.stage.shown import Shown, fits, of_experiment, of_latest, of_shipped
from pages.parts.stage.take_away import take_away

CURVE, KEPT = "issues.curve", "issues.kept"
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


def show_issue(issue: Issue) -> str | None:
    """Show the page of an issue; returns the name of the shown experiment, if there is one."""
    name = st.session_state.setdefault(RAN, {}).get(issue.slug)
    experiment = EXPERIMENTS.find(name) if name else None
    extended = bool(st.session_state[key_of(EXTENDED)])
    state = experiment.state if experiment else ""
    show_way(issue)
    show_claim(issue, state_of(issue, session_id()))
    show_mechanism(issue)
    show_arms(issue, extended, int(st.session_state[key_of(FIRST_SEED)]))
    ask_prediction(issue, extended, disabled=experiment is not None)
    st.subheader("The experiment", anchor=False)
    run_settings(issue, experiment)
    shown: Shown | None = None
    st.html(NEVER_FADED)
    # A fixed container: the elements above must not change the index of those below, which would remount.
    with st.container(key="issues-evidence"):
        if name and experiment:
            shown = of_experiment(experiment)
            experiment_board(name, experiment, curve=choose_curve(issue) if shown.curves else "")
            if experiment.state != "running":
                show_comparison(predicted(name), experiment.report)
                offer_more_seeds(issue, experiment)
                st.button("Predict anew", icon=":material/replay:", on_click=forget, args=(issue,))
        elif shown := choose_found(issue):
            # A name of its own: figures are kept by name, and the last script run may have shown another one.
            its_name = f"{issue.slug}.{shown.seeds}.{shown.stamp}"
            kept_board(its_name, shown, curve=choose_curve(issue) if shown.curves else "")
    if shown and shown.state != "running" and shown.trials:
        take_away(shown)
    show_remedies(issue)
    show_published(issue, shown.report if shown else None, tuple(shown.trials) if shown else ())
    show_notes(issue)
    if experiment and experiment.state != state:
        st.rerun()  # the experiment changed state during this script run: rerun so that the buttons match
    return name if experiment else None


def choose_found(issue: Issue) -> Shown | None:
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
    chosen = st.pills("Without a run of your own, show", list(there), key=KEPT)
    return there[chosen]() if chosen in there else None


def choose_curve(issue: Issue) -> str:
    """The curve that the panels show, chosen by the reader."""
    config = issue.config(issue.arms[0])
    options = ["loss", "validation.loss", *(f"validation.{metric}" for metric in metric_names(config)), *issue.curves]
    chosen: str = st.segmented_control(
        "Curves", options, default="loss", required=True, key=CURVE, persist_state="session",
        format_func=lambda name: "Training loss" if name == "loss" else metric_label(name).capitalize(),
    ) or "loss"  # fmt: skip
    return chosen if chosen in options else "loss"


def forget(issue: Issue) -> None:
    """Close the experiment, so that the reader can predict again."""
    st.session_state[RAN].pop(issue.slug, None)


asked = open_address()
say_ignored(asked.ignored)
found: str | None = None
if asked.slug is None:
    show_all()
else:
    if asked.experiment is not None:
        st.session_state.setdefault(RAN, {})[asked.slug] = asked.experiment
    found = show_issue(ISSUES[asked.slug])
write_address(ISSUES[asked.slug] if asked.slug else None, found)
