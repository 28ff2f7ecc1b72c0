"""The buttons of an experiment: Run with its forecast, and Stop."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from engine.estimate.prediction import predict
from engine.experiments.class_seeds import CLASS_PREFIX
from engine.experiments.comparison import DESIGN
from engine.experiments.experiment import MAX_SEEDS, Experiment
from engine.experiments.finding import READERS_SEEDS
from engine.experiments.issues import ISSUES
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.formatting import counted, in_time
from engine.settings.fields import setting
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.visitor import visitor
from pages.parts.experiments.presenting import presented
from pages.parts.experiments.running import EXPERIMENTS, ExperimentRequest, begin, in_the_way, leave_run


def forecast(experiment: Experiment, extended: bool = False) -> str:
    arms, seeds = experiment.arms_of(extended), experiment.seeds
    stored = {arm.name: trial_cache.number_stored(experiment, arm) for arm in arms}
    stored_trials, trials = sum(stored.values()), len(arms) * seeds
    words = counted(trials, "short training run")
    if stored_trials:
        words += f", {stored_trials if stored_trials < trials else 'all'} of them already stored here"
    if stored_trials == trials:
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
    return f"{words}, about {in_time(seconds)} or more."


def seeds_setting() -> Any:
    help = "Each seed gives every arm the same data. Six seeds can decide, eight are better."
    return setting(READERS_SEEDS, label="Seeds", help=help, ge=1, le=MAX_SEEDS)


def run_or_stop(
    name: str,
    run: ExperimentRun | None,
    ask: Callable[[], ExperimentRequest],
    *,
    label: str = "Run",
    at_work: str = "Running",
    ready: bool = True,
    **common: Any,
) -> None:
    """The button that begins an experiment; while the run of that name goes, Stop is next to it.

    ``ask`` is called at the press, and gives the experiment. ``at_work``: the label while it runs, at least as long
    as ``label``, so that Stop is never where the label was. ``common``: arguments of the button, which is primary by
    default.
    """

    @refused_in_words(error=ValueError)
    def press() -> None:
        request = ask()
        if request.shown_name == name:  # else a late press would begin the shown run again
            begin(request)

    running = run is not None and run.state == "running"
    # Run stays in its place, disabled, so that a second press never meets Stop.
    words = at_work if running else label
    begin_button(words, press, **{"key": f"run.{name}", "type": "primary", "disabled": running or not ready, **common})
    if running:
        owned = EXPERIMENTS.owned(name, visitor())
        leave, args = EXPERIMENTS.leave, (name, visitor())
        st.button("Stop", icon=":material/stop:", disabled=not owned, on_click=leave, args=args)


def begin_button(label: str, begin: Callable[[], None], **common: Any) -> None:
    """A button that begins an experiment. At the visitor's limit it first stops the running one, to which a link
    leads."""
    other = "" if common.get("disabled") else in_the_way()
    if not other or presented():  # a room does not read of other experiments
        st.button(label, icon=":material/play_arrow:", on_click=begin, **common)
        return
    task, most = EXPERIMENTS.find(other), server.pool().allowances.limits.experiments_per_visitor

    def instead() -> None:
        leave_run(other)
        begin()

    with st.container(gap="xsmall", width="content"):
        st.caption(f"You can run {counted(most, 'experiment')} at a time here. Running now:")
        if task is not None:
            file, query = _page_of(other, task.experiment)
            st.page_link(file, label=task.experiment.title, icon=":material/hourglass_top:", query_params=query)
        st.button("Stop it and run this one", icon=":material/swap_horiz:", on_click=instead, type="primary")


def _page_of(name: str, experiment: Experiment) -> tuple[str, dict[str, str]]:
    if experiment.slug in ISSUES:
        return "questions.py", {"issue": experiment.slug}
    if experiment.slug.startswith(CLASS_PREFIX):
        return "classroom.py", {}
    return "encodings.py", {"a": DESIGN, "experiment": name}
