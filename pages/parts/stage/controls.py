"""The controls of an experiment: seeds, Run and Stop, and a sentence on the trials and the time that a run will take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from engine.estimate.prediction import predict
from engine.experiments.comparison import Comparison
from engine.experiments.experiment import MOST_SEEDS, Experiment
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.trial_cache import stored_trials
from engine.experiments.trial import Trial
from engine.foundation.formatting import counted, in_time
from engine.settings.fields import setting
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.visitor import visitor
from pages.parts.stage.experiments import EXPERIMENTS, begin

WIDTH = 120


def forecast(experiment: Experiment, extended: bool = False, stored: Sequence[Trial] = ()) -> str:
    """The trials and time that an experiment will take, in a sentence. ``stored`` trials are not trained again."""
    arms, seeds = experiment.arms_of(extended), experiment.seeds
    trials = len(arms) * seeds
    words = f"{counted(len(arms), 'arm')} × {counted(seeds, 'seed')} = {counted(trials, 'trial')}"
    if stored:
        words += f", {len(stored) if len(stored) < trials else 'all'} of them kept on this machine"
    to_train = {arm.name: seeds - sum(trial.arm == arm.name for trial in stored) for arm in arms}
    times = [
        (predict(config).seconds_per_step, config.steps * to_train[arm.name])
        for arm in arms
        for config in [experiment.config(arm)]
        if config.steps > 1  # otherwise it is not trained, and all its time goes into measuring
    ]
    if not times or len(stored) == trials or any(pace is None for pace, _ in times):
        return f"{words}."
    seconds = sum((pace or 0.0) * steps for pace, steps in times) / server.pool().machines.slots
    return f"{words}, about {in_time(seconds)} here and the time for measuring."


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


def start(
    experiment: Experiment,
    *,
    extended: bool = False,
    stored: Sequence[Trial] = (),
    comparison: Comparison | None = None,
) -> str | None:
    """Start an experiment (see :func:`begin`) and return the name of its run; None where it is refused."""
    with refused_in_words():
        return begin(experiment, extended=extended, stored=stored, comparison=comparison)
    return None
