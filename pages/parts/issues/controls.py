"""The controls of an issue's experiment: seeds, first seed, extended arms; Run and Stop; more seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial

import streamlit as st

from engine.experiments.experiment import MOST_SEEDS
from engine.experiments.issues.issue import Issue
from engine.experiments.running import ExperimentRun
from engine.experiments.trial import Trial
from pages.parts.issues.prediction import Prediction, prediction_of
from pages.parts.issues.state import SETTINGS, shown_runs
from pages.parts.stage.controls import WIDTH, run_and_stop, show_forecast, show_refusal, start

PREDICTED = "issues.predicted"
"""Session key: the predictions by run, as they were when it started."""


def asked(issue: Issue) -> Issue:
    """The issue with the seeds that are set."""
    values = SETTINGS.values()
    return replace(issue, seeds=values["seeds"], first_seed=values["first_seed"])


def extended() -> bool:
    return bool(SETTINGS.values()["extended"])


def run_settings(issue: Issue, run: ExperimentRun | None) -> None:
    """Widgets for seeds and arms, and the buttons Run and Stop."""
    running = run is not None and run.state == "running"
    slow = any(arm.extended for arm in issue.arms) or any(claim.extended for claim in issue.claims)
    with st.container(border=True):
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            SETTINGS.widget("seeds", disabled=running, width=WIDTH)
            SETTINGS.widget("first_seed", disabled=running, width=WIDTH)
            told = "Also the arms that take longer." if slow else "This issue has no longer arms."
            SETTINGS.widget("extended", disabled=running or not slow, help=told)
            run_and_stop(run, partial(begin, issue))
        show_forecast(asked(issue), extended())
    show_refusal()


def begin(issue: Issue, stored: Sequence[Trial] = ()) -> None:
    """Start the experiment with what is set, and keep the predictions that were made before."""
    name = start(asked(issue), extended=extended(), stored=stored)
    if name is not None:
        shown_runs()[issue.slug] = name
        st.session_state.setdefault(PREDICTED, {})[name] = asdict(prediction_of(issue))


def predicted(name: str) -> Prediction:
    """The predictions made before this run started; empty where another session started it."""
    return Prediction(**st.session_state.get(PREDICTED, {}).get(name, {"guesses": {}}))


def offer_more_seeds(issue: Issue, run: ExperimentRun) -> None:
    """A button for more seeds, where the present ones could not decide a claim."""
    open_claims = [claim for claim in run.report.claims if claim.weighed.verdict == "inconclusive"]
    more = min(MOST_SEEDS, 2 * max(4, len(run.seeds)))
    if run.trials and open_claims and more > len(run.seeds):
        st.button(
            f"Inconclusive so far: go on to {more} seeds", icon=":material/add:", on_click=_go_on, args=(issue, run, more),
            help="Trials that have finished are not trained again.",
        )  # fmt: skip


def _go_on(issue: Issue, run: ExperimentRun, seeds: int) -> None:
    SETTINGS.put({"seeds": seeds})
    begin(issue, run.trials)


def forget(issue: Issue) -> None:
    """Close the run, so that the reader can predict again."""
    shown_runs().pop(issue.slug, None)
