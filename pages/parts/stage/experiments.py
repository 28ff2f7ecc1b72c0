"""The experiments of this server process: what each will take, Run and Stop; begun over stored trials, their evidence stored at the end."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from engine.estimate.prediction import predict
from engine.experiments.comparison import Comparison
from engine.experiments.evidence import store
from engine.experiments.experiment import MOST_SEEDS, Arm, Experiment
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.shared_trials import SharedTrials
from engine.experiments.trial import Trial
from engine.foundation.formatting import counted, in_time
from engine.settings.fields import setting
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.task_registry import TaskRegistry
from pages.parts.app.visitor import visitor

WIDTH = 120
EXPERIMENTS: TaskRegistry[ExperimentRun] = TaskRegistry("experiment")
SHARED = SharedTrials()
"""The trials under way: who presses Run beside others follows theirs."""


def forecast(experiment: Experiment, extended: bool = False) -> str:
    """The trials of an experiment and a rough time, in two sentences. Those kept on this machine are not trained again."""
    arms, seeds = experiment.arms_of(extended), experiment.seeds
    stored = {arm.name: trial_cache.number_stored(experiment, arm) for arm in arms}
    kept, trials = sum(stored.values()), len(arms) * seeds
    words = f"{counted(len(arms), 'arm')} × {counted(seeds, 'seed')} = {counted(trials, 'trial')}"
    if kept:
        words += f", {kept if kept < trials else 'all'} of them kept on this machine"
    if kept == trials:
        return f"{words}."
    times = [
        (predict(config).seconds_per_step, config.steps * (seeds - stored[arm.name]))
        for arm in arms
        for config in [experiment.config(arm)]
        if config.steps > 1  # otherwise it is not trained, and all its time goes into measuring
    ]
    if not times or any(pace is None for pace, _ in times):
        return f"{words}."
    seconds = sum((pace or 0.0) * steps for pace, steps in times) / server.pool().machines.slots
    return f"{words}, roughly {in_time(seconds)} or more. The time left is known once the first trial has ended."


def seeds_setting() -> Any:
    """The setting of a page's state for the number of seeds."""
    help = "Paired: every arm starts from the same data under the same seed. Six can decide, eight are better."
    return setting(8, label="Seeds", help=help, ge=1, le=MOST_SEEDS)


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


def start(
    experiment: Experiment,
    *,
    extended: bool = False,
    stored: Sequence[Trial] = (),
    comparison: Comparison | None = None,
) -> str | None:
    """Start an experiment and return the name of its run; None where it is refused, for a reason that is shown: the visitor has another
    one going, or its settings do not fit. Trials in ``stored`` or in the cache are not trained again.

    A ``comparison`` goes by its own name, by which it is also stored, and that after a stop too; if it is running already, no
    second one is started.
    """
    known = {(trial.arm, trial.seed): trial for trial in stored if not trial.outcome}

    def find(arm: Arm, seed: int) -> Trial | None:
        return known.get((arm.name, seed)) or trial_cache.find(experiment, arm, seed)

    def save(_: str) -> None:
        if comparison is not None or run.state == "finished":
            store.save(run, comparison)
        trial_cache.delete_oldest()

    with refused_in_words():
        run = ExperimentRun(
            experiment, server.pool(), extended=extended, visitor=visitor(),
            find=find, save=partial(trial_cache.save, experiment), shared=SHARED,
        )  # fmt: skip
        return EXPERIMENTS.begin(run, name=comparison.name if comparison else "", keep=save)
    return None
