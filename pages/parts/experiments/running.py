"""The experiments of this server process, which start from stored trials, and the run that each reader views."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

import streamlit as st

from engine.experiments.comparison import Comparison
from engine.experiments.evidence import store
from engine.experiments.experiment import Experiment
from engine.experiments.issues.issue import Issue
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.shared_trials import SharedTrials
from engine.foundation.visitor import Visitor
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.task_registry import TaskRegistry
from pages.parts.app.visitor import visitor
from pages.parts.experiments.presenting import presented

EXPERIMENTS: TaskRegistry[ExperimentRun] = TaskRegistry("experiment")
SHARED = SharedTrials()  # trials in training; other runs that need them follow them


@dataclass(frozen=True)
class ExperimentRequest:
    experiment: Experiment
    on_start: Callable[[str], object]  # called with the name of the run
    shown_name: str  # empty while the page shows no run
    extended: bool = False
    # of a design; names the run and the evidence, which is stored after a stop, too
    comparison: Comparison | None = None


def run_of(experiment: Experiment, visitor: Visitor, *, extended: bool = False) -> ExperimentRun:
    """Return the visitor's run, not yet started. It reads the trial cache and follows running trials of others."""
    pool, find, save = server.pool(), partial(trial_cache.find, experiment), partial(trial_cache.save, experiment)
    return ExperimentRun(experiment, pool, extended=extended, visitor=visitor, find=find, save=save, shared=SHARED)


def begin(request: ExperimentRequest) -> None:
    def save(_: str) -> None:
        if request.comparison is not None:
            store.save(run, request.comparison)
        trial_cache.delete_oldest()

    # In a presented lesson the run of the step before ends first, because the room has gone on.
    if presented() and not running_of_visitor(request.experiment):
        leave_run(in_the_way())
    with refused_in_words():
        run = run_of(request.experiment, visitor(), extended=request.extended)
        # A running name is used again, so that two presses begin one experiment.
        name = request.comparison.name if request.comparison else running_of_visitor(request.experiment)
        request.on_start(EXPERIMENTS.begin(run, name=name, keep=save))


def running_of_visitor(experiment: Experiment) -> str:
    return EXPERIMENTS.running_of(visitor(), lambda run: run.experiment.slug == experiment.slug)


def leave_run(name: str) -> None:
    if name:
        EXPERIMENTS.leave(name, visitor())


def in_the_way() -> str:
    """The name of the experiment that must end before this visitor can begin another; empty while there is room."""
    me, allowances = visitor(), server.pool().allowances
    if allowances.count("experiment", me) < allowances.limits.experiments_per_visitor:
        return ""
    return EXPERIMENTS.running_of(me)


# A link to a question, and the run that each reader views


RUN_NAMES = "questions.run_names"  # session key: the name of the shown run by question


def issue_link(issue: Experiment, label: str = "", icon: str | None = None) -> None:
    st.page_link("questions.py", label=label or issue.title, icon=icon, query_params={"issue": issue.slug})


def shown_runs() -> dict[str, str]:
    return cast(dict[str, str], st.session_state.setdefault(RUN_NAMES, {}))


def shown_run(issue: Issue) -> tuple[str, ExperimentRun | None]:
    """The name of the shown run, and the run if this server still has it."""
    # Without a chosen run, the reader's own running one, which stays shown after its end.
    name = shown_runs().get(issue.slug) or running_of_visitor(issue)
    if name:
        shown_runs()[issue.slug] = name
    return name, EXPERIMENTS.find(name)
