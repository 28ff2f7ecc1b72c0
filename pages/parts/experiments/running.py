"""The experiments of this server process: begun over stored trials; and which of them this reader looks at."""

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
SHARED = SharedTrials()
"""The trials under way: who presses Run beside others follows theirs."""


@dataclass(frozen=True)
class RunRequest:
    """An experiment that a page asks for."""

    experiment: Experiment
    on_begun: Callable[[str], object]
    """Called with the name of its run, for the page to show it."""
    shown_name: str
    """The name of the run that the page shows so far; empty for none."""
    extended: bool = False
    comparison: Comparison | None = None
    """The comparison, where a design is compared. Run and stored evidence have its name; the evidence is written after a stop, too."""


def run_of(experiment: Experiment, visitor: Visitor, *, extended: bool = False) -> ExperimentRun:
    """The visitor's run of an experiment, not yet started. Trials in the cache are not trained again; one that is under way for others is
    followed."""
    pool, find, save = server.pool(), partial(trial_cache.find, experiment), partial(trial_cache.save, experiment)
    return ExperimentRun(experiment, pool, extended=extended, visitor=visitor, find=find, save=save, shared=SHARED)


def begin(request: RunRequest) -> None:
    """Begin an experiment, unless it is refused (:func:`refused_in_words`). Where the visitor has the same one going, that one is shown:
    two presses begin one experiment. In a lesson that is presented another one, as of the step before, ends first: the room has gone on."""

    def save(_: str) -> None:
        if request.comparison is not None:
            store.save(run, request.comparison)
        trial_cache.delete_oldest()

    if presented() and not running_of_visitor(request.experiment):
        leave_run(in_the_way())
    with refused_in_words():
        run = run_of(request.experiment, visitor(), extended=request.extended)
        name = request.comparison.name if request.comparison else running_of_visitor(request.experiment)
        request.on_begun(EXPERIMENTS.begin(run, name=name, keep=save))


def running_of_visitor(experiment: Experiment) -> str:
    """The name of the visitor's own run of an experiment that goes now; empty where there is none."""
    return EXPERIMENTS.running_of(visitor(), lambda run: run.experiment.slug == experiment.slug)


def leave_run(name: str) -> None:
    """The visitor no longer asks for this experiment, if there is one. What it has trained is kept."""
    if name:
        EXPERIMENTS.leave(name, visitor())


def in_the_way() -> str:
    """The name of the visitor's experiment that has to end before another one begins; empty while there is room."""
    me, allowances = visitor(), server.pool().allowances
    if allowances.count("experiment", me) < allowances.limits.experiments_per_visitor:
        return ""
    return EXPERIMENTS.running_of(me)


# A link to a question, and which of its runs this reader looks at


RAN = "questions.ran"
"""Session key: the name of the shown run by question."""


def issue_link(issue: Experiment, label: str = "", icon: str | None = None) -> None:
    st.page_link("questions.py", label=label or issue.title, icon=icon, query_params={"issue": issue.slug})


def shown_runs() -> dict[str, str]:
    return cast(dict[str, str], st.session_state.setdefault(RAN, {}))


def shown_run(issue: Issue) -> tuple[str, ExperimentRun | None]:
    """The name of the run that is looked at and the run, if this server still holds it: where none was chosen, the reader's own that
    goes now, which then stays in sight."""
    name = shown_runs().get(issue.slug) or running_of_visitor(issue)
    if name:
        shown_runs()[issue.slug] = name
    return name, EXPERIMENTS.find(name)
