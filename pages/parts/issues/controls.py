"""The controls of an issue's experiment: seeds, first seed, extended arms; its start; more seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from engine.experiments.experiment import MOST_SEEDS
from engine.experiments.issues.issue import Issue
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.statistics import Finding
from engine.experiments.trial import Trial
from engine.foundation.formatting import counted
from pages.parts.issues.guess import Prediction, prediction_of
from pages.parts.issues.state import SETTINGS
from pages.parts.stage.experiments import start
from pages.parts.stage.issue_list import shown_runs

PREDICTED = "issues.predicted"
"""Session key: the predictions by run, as they were when it started."""


def asked(issue: Issue) -> Issue:
    """The issue with the seeds that are set."""
    values = SETTINGS.values()
    return replace(issue, seeds=values["seeds"], first_seed=values["first_seed"])


def extended() -> bool:
    return bool(SETTINGS.values()["extended"])


def settings(issue: Issue, disabled: bool) -> None:
    """Seeds and arms, behind a button that says how many seeds are set."""
    slow = any(arm.extended for arm in issue.arms) or any(claim.extended for claim in issue.claims)
    with st.popover(counted(asked(issue).seeds, "seed"), icon=":material/tune:", disabled=disabled):
        SETTINGS.widget("seeds", disabled=disabled)
        SETTINGS.widget("first_seed", disabled=disabled)
        told = "Also the arms that take longer." if slow else "This issue has no longer arms."
        SETTINGS.widget("extended", disabled=disabled or not slow, help=told)


def begin(issue: Issue, stored: Sequence[Trial] = ()) -> None:
    """Start the experiment with what is set, and keep the predictions that were made before."""
    name = start(asked(issue), extended=extended(), stored=stored)
    if name is not None:
        shown_runs()[issue.slug] = name
        st.session_state.setdefault(PREDICTED, {})[name] = prediction_of(issue)


def predicted(name: str) -> Prediction:
    """The predictions made before this run started; empty where another session started it."""
    found: Prediction = st.session_state.get(PREDICTED, {}).get(name, {})
    return found


def offer_more_seeds(issue: Issue, run: ExperimentRun) -> None:
    """A button for more seeds, where the present ones could not decide a claim."""
    open_claims = [claim for claim in run.report.claims if claim.finding is Finding.UNDECIDED]
    more = min(MOST_SEEDS, 2 * max(4, len(run.seeds)))
    if run.trials and open_claims and more > len(run.seeds):
        st.button(
            f"Undecided claims: go on to {more} seeds", icon=":material/add:", on_click=_go_on, args=(issue, run, more),
            help="Trials that have finished are not trained again.",
        )  # fmt: skip


def _go_on(issue: Issue, run: ExperimentRun, seeds: int) -> None:
    SETTINGS.put({"seeds": seeds})
    begin(issue, run.trials)


def forget(issue: Issue) -> None:
    """Close the run, so that the reader can predict again."""
    shown_runs().pop(issue.slug, None)
