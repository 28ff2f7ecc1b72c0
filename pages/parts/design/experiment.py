"""The design against built-in encodings: the choice of rivals and tasks, and the run of the comparison."""

from __future__ import annotations

import streamlit as st

from engine.encodings import ENCODINGS
from engine.encodings.designed.spec import DesignedSettings
from engine.encodings.designed.words import in_words
from engine.experiments.comparison import MOST_RIVALS, RIVALS, TASKS
from engine.experiments.evidence.store import find_comparison
from engine.experiments.experiment import Experiment
from engine.experiments.running.experiment_run import ExperimentRun
from engine.settings.errors import ConfigError
from pages.parts.app.in_markdown import in_markdown, say_unsaved, show_refusal
from pages.parts.app.own_runs import in_step_with
from pages.parts.design.state import EXPERIMENT, SETTINGS, asked_comparison, design
from pages.parts.stage.arms import show_arms
from pages.parts.stage.board import show_evidence, take_away
from pages.parts.stage.experiments import EXPERIMENTS, WIDTH, run_or_stop, show_forecast, start
from pages.parts.stage.shown import Shown


def show_experiment() -> None:
    name = SETTINGS.values()[EXPERIMENT] or ""
    run = EXPERIMENTS.find(name)
    with in_step_with(lambda: run.state if run is not None else ""):
        _settings(run)
        show_refusal()
        with st.container():  # a fixed container: the elements here must not change the index of those below
            shown: Shown | None = None
            if run is not None:
                _heading(run.experiment)
                shown = show_evidence(name, run)
                say_unsaved(run)
            elif found := find_comparison(name):
                shown = Shown.of(found[1], "kept")
                _heading(shown.experiment)
                show_evidence(name, shown)
            if shown is not None and shown.state != "running":
                take_away(shown)
                with st.expander("Every arm, and the way into the lab with it", icon=":material/science:"):
                    show_arms(shown.experiment, False, shown.seeds[0])


def _experiment() -> tuple[Experiment | None, str]:
    """The experiment that Run starts, or why there is none."""
    try:
        return asked_comparison().experiment, ""
    except (ConfigError, ValueError) as error:
        return None, in_markdown(error)


def _settings(run: ExperimentRun | None) -> None:
    running = run is not None and run.state == "running"
    experiment, problem = _experiment()
    with st.container(border=True):
        if SETTINGS.drawn("against"):
            st.multiselect(
                "Against", RIVALS, format_func=lambda name: ENCODINGS[name].label, max_selections=MOST_RIVALS,
                placeholder="Choose encodings", help="Built-in encodings, with their usual settings.",
                default=SETTINGS.first_value("against"), **SETTINGS.bound("against", disabled=running),
            )  # fmt: skip
        if SETTINGS.drawn("tasks"):
            st.pills(
                "Tasks", list(TASKS), selection_mode="multi", format_func=lambda name: TASKS[name].label,
                help="; ".join(f"{task.label}: {task.asks}" for task in TASKS.values()) + ".",
                default=SETTINGS.first_value("tasks"), **SETTINGS.bound("tasks", disabled=running),
            )  # fmt: skip
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            SETTINGS.widget("seeds", disabled=running, width=WIDTH)
            run_or_stop(SETTINGS.values()[EXPERIMENT] or "", run, _begin, ready=experiment is not None)
        if experiment is None:
            st.caption(f":material/block: {problem}")
        else:
            show_forecast(experiment)


def _heading(experiment: Experiment) -> None:
    """The design in words."""
    parts = experiment.config(experiment.arms[0]).encoding_settings
    assert isinstance(parts, DesignedSettings)
    changed = "" if parts == design() else " :orange[:material/edit: The parts above have changed since.]"
    st.markdown(f"**In this run:** {in_words(parts)}{changed}")


def _begin() -> None:
    """Start the comparison and show it; where the same one is running already, show that."""
    name = start(asked_comparison().experiment, comparison=asked_comparison())
    if name is not None:
        SETTINGS.put({EXPERIMENT: name})
