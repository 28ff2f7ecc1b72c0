"""The experiments of this server process: what each will take, Run and Stop; begun over stored trials, their evidence stored at the end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from engine.estimate.prediction import predict
from engine.experiments.class_seeds import OF_CLASS
from engine.experiments.comparison import Comparison
from engine.experiments.evidence import store
from engine.experiments.experiment import MOST_SEEDS, Arm, Experiment
from engine.experiments.finding import READERS_SEEDS
from engine.experiments.issues import ISSUES
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.shared_trials import SharedTrials
from engine.experiments.trial import Trial
from engine.foundation.formatting import counted, in_time
from engine.foundation.visitor import Visitor
from engine.settings.fields import setting
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.task_registry import TaskRegistry
from pages.parts.app.visitor import visitor
from pages.parts.stage.presenting import presented

BUTTON = 100
"""The width of Run and of Stop, in pixels."""
EXPERIMENTS: TaskRegistry[ExperimentRun] = TaskRegistry("experiment")
SHARED = SharedTrials()
"""The trials under way: who presses Run beside others follows theirs."""


def forecast(experiment: Experiment, extended: bool = False) -> str:
    """The trials of an experiment and a rough time, in a sentence. Those kept on this machine are not trained again."""
    arms, seeds = experiment.arms_of(extended), experiment.seeds
    stored = {arm.name: trial_cache.number_stored(experiment, arm) for arm in arms}
    kept, trials = sum(stored.values()), len(arms) * seeds
    words = counted(trials, "short training")
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
    return f"{words}, about {in_time(seconds)} or more."


def seeds_setting() -> Any:
    """The setting of a page's state for the number of seeds."""
    help = "Paired: every arm starts from the same data under the same seed. Six can decide, eight are better."
    return setting(READERS_SEEDS, label="Seeds", help=help, ge=1, le=MOST_SEEDS)


@dataclass(frozen=True)
class Asked:
    """An experiment that a page asks for."""

    experiment: Experiment
    on_begun: Callable[[str], object]
    """Called with the name of its run, for the page to show it."""
    shown_name: str
    """The name of the run that the page shows so far; empty for none."""
    extended: bool = False
    stored: Sequence[Trial] = ()
    """Trials that are not trained again, beside those in the cache."""
    comparison: Comparison | None = None
    """The comparison, where a design is compared. Run and stored evidence have its name; the evidence is written after a stop, too."""


def run_of(
    experiment: Experiment, visitor: Visitor, *, extended: bool = False, stored: Sequence[Trial] = ()
) -> ExperimentRun:
    """The visitor's run of an experiment, not yet started. Trials in ``stored`` or in the cache are not trained again; one that is under
    way for others is followed."""
    known = {(trial.arm, trial.seed): trial for trial in stored if not trial.outcome}

    def find(arm: Arm, seed: int) -> Trial | None:
        return known.get((arm.name, seed)) or trial_cache.find(experiment, arm, seed)

    pool, save = server.pool(), partial(trial_cache.save, experiment)
    return ExperimentRun(experiment, pool, extended=extended, visitor=visitor, find=find, save=save, shared=SHARED)


def begin(asked: Asked) -> None:
    """Begin an experiment, unless it is refused (:func:`refused_in_words`). Where the visitor has the same one going, that one is shown:
    two presses begin one experiment. In a lesson that is presented another one, as of the step before, ends first: the room has gone on."""

    def save(_: str) -> None:
        if asked.comparison is not None or run.state == "finished":
            store.save(run, asked.comparison)
        trial_cache.delete_oldest()

    if presented() and not own_running(asked.experiment):
        _leave(_in_the_way())
    with refused_in_words():
        run = run_of(asked.experiment, visitor(), extended=asked.extended, stored=asked.stored)
        name = asked.comparison.name if asked.comparison else own_running(asked.experiment)
        asked.on_begun(EXPERIMENTS.begin(run, name=name, keep=save))


def own_running(experiment: Experiment) -> str:
    """The name of the visitor's own run of an experiment that goes now; empty where there is none."""
    return EXPERIMENTS.running_of(visitor(), lambda run: run.experiment.slug == experiment.slug)


def run_or_stop(name: str, run: ExperimentRun | None, ask: Callable[[], Asked], *, ready: bool = True) -> None:
    """Run and, while the run of that name goes, Stop beside it: a second press of Run never meets Stop. ``ask`` says what to run, when Run
    is pressed. Stop is its owners'; what several asked for goes on until the last of them stops it."""

    @refused_in_words(error=ValueError)
    def press() -> None:
        asked = ask()
        if asked.shown_name == name:  # else the press comes late: what it asked for goes already
            begin(asked)

    running = run is not None and run.state == "running"
    begin_button("Run", press, key=f"run.{name}", type="primary", disabled=running or not ready, width=BUTTON)
    if running:
        own = EXPERIMENTS.owned(name, visitor())
        leave, args = EXPERIMENTS.leave, (name, visitor())
        st.button("Stop", icon=":material/stop:", disabled=not own, on_click=leave, args=args, width=BUTTON)


def begin_button(label: str, begin: Callable[[], None], **common: Any) -> None:
    """A button that begins an experiment. Where another one of the visitor's has to end first, that one is named with a link to it, and the
    button stops it and begins this one."""
    other = "" if common.get("disabled") else _in_the_way()
    if not other or presented():  # a room does not read of other experiments
        st.button(label, icon=":material/play_arrow:", on_click=begin, **common)
        return
    task, most = EXPERIMENTS.find(other), server.pool().allowances.limits.experiments_per_visitor

    def instead() -> None:
        _leave(other)
        begin()

    with st.container(gap="xsmall", width="content"):
        st.caption(f"This host runs {counted(most, 'experiment')} of yours at a time. Running now:")
        if task is not None:
            file, query = _page_of(other, task.experiment)
            st.page_link(file, label=task.experiment.title, icon=":material/hourglass_top:", query_params=query)
        st.button("Stop it and run this one", icon=":material/swap_horiz:", on_click=instead, type="primary")


def _leave(name: str) -> None:
    """The visitor no longer asks for this experiment, if there is one. What it has trained is kept."""
    if name:
        EXPERIMENTS.leave(name, visitor())


def _in_the_way() -> str:
    """The name of the visitor's experiment that has to end before another one begins; empty while there is room."""
    me, allowances = visitor(), server.pool().allowances
    if allowances.count("experiment", me) < allowances.limits.experiments_per_visitor:
        return ""
    return EXPERIMENTS.running_of(me)


def _page_of(name: str, experiment: Experiment) -> tuple[str, dict[str, str]]:
    """The file and the query of the page that shows a run."""
    if experiment.slug in ISSUES:
        return "issues.py", {"issue": experiment.slug}
    if experiment.slug.startswith(OF_CLASS):
        return "classroom.py", {}
    return "design.py", {"experiment": name}
