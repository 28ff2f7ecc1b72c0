"""The controls of an experiment: seeds, first seed, extended arms; Run and Stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from engine.experiments.experiment import MOST_SEEDS, Experiment
from engine.experiments.issues.issue import Issue
from engine.experiments.trial import Trial
from engine.settings.errors import ConfigError
from engine.workers.errors import Refused
from pages.parts.app import server
from pages.parts.app.in_markdown import in_markdown
from pages.parts.app.session import session_id
from pages.parts.issues.address import EXTENDED, FIRST_SEED, LARGEST_FIRST_SEED, SEEDS, key_of
from pages.parts.issues.prediction import Prediction, prediction_of
from pages.parts.stage.experiments import begin as begin_experiment
from pages.parts.stage.forecast import forecast

RAN = "issues.ran"
"""Session key: the shown experiment by issue."""
PREDICTED = "issues.predicted"
"""Session key: the predictions by experiment, as they were when it started."""
REFUSED = "issues.refused"


def run_settings(issue: Issue, experiment: Experiment | None) -> None:
    """Widgets for seeds and arms, and the buttons Run and Stop."""
    running = experiment is not None and experiment.state == "running"
    with st.container(border=True):
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            st.number_input(
                "Seeds", 1, MOST_SEEDS, key=key_of(SEEDS), disabled=running, width=120, persist_state="session",
                help="Paired: every arm starts from the same weights and data under the same seed. Six can decide, eight are better.",
            )  # fmt: skip
            st.number_input(
                "First seed", 0, LARGEST_FIRST_SEED, key=key_of(FIRST_SEED), disabled=running, width=120, persist_state="session",
                help="The seeds are this one and those that follow.",
            )  # fmt: skip
            slow = any(arm.extended for arm in issue.arms) or any(claim.extended for claim in issue.claims)
            st.toggle(
                "Extended", key=key_of(EXTENDED), disabled=running or not slow, persist_state="session",
                help="Also the arms that take longer." if slow else "This issue has no longer arms.",
            )  # fmt: skip
            st.button(
                "Run",
                type="primary",
                icon=":material/play_arrow:",
                disabled=running,
                on_click=begin,
                args=(issue,),
                width=120,
            )
            st.button(
                "Stop", icon=":material/stop:", disabled=not running, on_click=_stop, args=(experiment,), width=120
            )
        st.caption(forecast(issue, st.session_state[key_of(SEEDS)], bool(st.session_state[key_of(EXTENDED)])))
    if sentence := st.session_state.pop(REFUSED, None):
        st.error(sentence, icon=":material/block:")


def begin(issue: Issue, seeds: int | None = None, known: Sequence[Trial] = ()) -> None:
    """Start the experiment; if it is refused, the sentence is stored to be shown and nothing else changes."""
    if seeds is not None:
        st.session_state[key_of(SEEDS)] = seeds
    try:
        experiment = Experiment(
            issue, server.pool(), seeds=int(st.session_state[key_of(SEEDS)]), first_seed=int(st.session_state[key_of(FIRST_SEED)]),
            extended=bool(st.session_state[key_of(EXTENDED)]), session=session_id(), known=known,
        )  # fmt: skip
        name = begin_experiment(experiment)
    except (Refused, ConfigError, ValueError) as error:
        st.session_state[REFUSED] = in_markdown(error)
        return
    st.session_state.setdefault(RAN, {})[issue.slug] = name
    st.session_state.setdefault(PREDICTED, {})[name] = asdict(prediction_of(issue))


def predicted(name: str) -> Prediction:
    """The predictions made before this experiment started; empty where another session started it."""
    return Prediction(**st.session_state.get(PREDICTED, {}).get(name, {"guesses": {}}))


def offer_more_seeds(issue: Issue, experiment: Experiment) -> None:
    """A button for more seeds, where the present ones could not decide a claim."""
    open_claims = [claim for claim in experiment.report.claims if claim.weighed.verdict == "inconclusive"]
    more = min(MOST_SEEDS, 2 * max(4, len(experiment.seeds)))
    if experiment.trials and open_claims and more > len(experiment.seeds):
        st.button(
            f"Inconclusive so far: go on to {more} seeds",
            icon=":material/add:",
            on_click=begin,
            args=(issue, more, experiment.trials),
            help="Trials that have finished are not trained again.",
        )


def _stop(experiment: Experiment) -> None:
    experiment.stop()
