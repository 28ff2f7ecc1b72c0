"""The controls of an experiment: seeds, Run and Stop, what a run will take, and the sentence where one is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from engine.experiments.experiment import MOST_SEEDS, Experiment
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.trial_cache import stored_trials
from engine.settings.fields import setting
from pages.parts.app.visitor import visitor
from pages.parts.stage.experiments import EXPERIMENTS, REFUSED
from pages.parts.stage.forecast import forecast

WIDTH = 120


def seeds_setting() -> Any:
    """The setting of a page's state for the number of seeds."""
    return setting(
        8,
        label="Seeds",
        help="Paired: every arm starts from the same data under the same seed. Six can decide, eight are better.",
        ge=1,
        le=MOST_SEEDS,
    )


def run_or_stop(name: str, run: ExperimentRun | None, start: Callable[[], None], *, ready: bool = True) -> None:
    """The button for the experiment of that name: Run, or while it runs Stop. ``start`` is called for Run. Stop is its owners';
    what several asked for goes on until the last of them stops it."""
    if run is None or run.state != "running":
        icon = ":material/play_arrow:"
        st.button("Run", type="primary", icon=icon, disabled=not ready, on_click=start, width=WIDTH)
    else:
        own = EXPERIMENTS.owned(name, visitor())
        leave, args = EXPERIMENTS.leave, (name, visitor())
        st.button("Stop", icon=":material/stop:", disabled=not own, on_click=leave, args=args, width=WIDTH)


def show_forecast(experiment: Experiment, extended: bool = False) -> None:
    st.caption(forecast(experiment, extended, stored_trials(experiment, extended)))


def show_refusal() -> None:
    """Why the last start was refused, once."""
    if sentence := st.session_state.pop(REFUSED, None):
        st.error(sentence, icon=":material/block:")
