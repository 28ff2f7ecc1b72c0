"""The experiments of this server process: begun over stored trials, their evidence stored at the end; and which of them
this reader looks at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import cast

import streamlit as st

from engine.experiments.comparison import Comparison
from engine.experiments.evidence import store
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFinding, key_finding_of
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.shared_trials import SharedTrials
from engine.experiments.trial import Trial
from engine.foundation.visitor import Visitor
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.task_registry import TaskRegistry
from pages.parts.app.visitor import visitor
from pages.parts.experiments.panels import FINDING_STYLES, Color
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
    stored: Sequence[Trial] = ()
    """Trials that are not trained again, beside those in the cache."""
    comparison: Comparison | None = None
    """The comparison, where a design is compared. Run and stored evidence have its name; the evidence is written after a stop, too."""


def run_of(
    experiment: Experiment, visitor: Visitor, *, extended: bool = False, stored: Sequence[Trial] = ()
) -> ExperimentRun:
    """The visitor's run of an experiment, not yet started. Trials in ``stored`` or in the cache are not trained again; one that is under
    way for others is followed."""
    known = {(trial.arm, trial.seed): trial for trial in stored if not trial.failure}

    def find(arm: Arm, seed: int) -> Trial | None:
        return known.get((arm.name, seed)) or trial_cache.find(experiment, arm, seed)

    pool, save = server.pool(), partial(trial_cache.save, experiment)
    return ExperimentRun(experiment, pool, extended=extended, visitor=visitor, find=find, save=save, shared=SHARED)


def begin(request: RunRequest) -> None:
    """Begin an experiment, unless it is refused (:func:`refused_in_words`). Where the visitor has the same one going, that one is shown:
    two presses begin one experiment. In a lesson that is presented another one, as of the step before, ends first: the room has gone on."""

    def save(_: str) -> None:
        if request.comparison is not None or run.state == "finished":
            store.save(run, request.comparison)
        trial_cache.delete_oldest()

    if presented() and not running_of_visitor(request.experiment):
        leave_run(in_the_way())
    with refused_in_words():
        run = run_of(request.experiment, visitor(), extended=request.extended, stored=request.stored)
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


# A link to an issue, the marks of what this reader has run of it, and which of its runs this reader looks at


RAN = "issues.ran"
"""Session key: the name of the shown run by issue."""
FindingStyle = tuple[str, str, Color]
"""Words, icon and colour of a mark."""


def found_mark(issue: Issue) -> FindingStyle | None:
    """The mark of the reader's own latest run that came to its end: its answer to the question. None where there is none. It outlives
    the session: whose run it was is known by the browser's cookie."""
    file = store.latest_of(visitor().id, issue.slug)
    return _mark_in(file, issue.slug) if file is not None else None


@lru_cache(1000)
def _mark_in(file: Path, slug: str) -> FindingStyle | None:
    """The mark of stored evidence. Each file is read once, since it never changes."""
    issue = ISSUES[slug]
    if (found := store.report_in(file, issue)) is None:
        return None
    weighed = found.claim(issue.key_figure.claim).weighed
    words, icon, color = answer_mark(issue, key_finding_of(issue.key_figure, found.values, weighed), weighed.finding)
    return f"Yours: {words}", icon, color


def answer_mark(issue: Issue, key_finding: KeyFinding | None, finding: Finding) -> FindingStyle:
    """The answer to the issue's question; where the runs give none, the finding on its claim."""
    if key_finding is None or key_finding.answer is None:
        return finding.words, *FINDING_STYLES[finding]
    return issue.key_figure.asks.in_words(key_finding.answer), *FINDING_STYLES[Finding.HOLDS]


def issue_link(issue: Experiment, label: str = "", icon: str | None = None) -> None:
    st.page_link("issues.py", label=label or issue.title, icon=icon, query_params={"issue": issue.slug})


def shown_runs() -> dict[str, str]:
    return cast(dict[str, str], st.session_state.setdefault(RAN, {}))


def shown_run(issue: Issue) -> tuple[str, ExperimentRun | None]:
    """The name of the run that is looked at and the run, if this server still holds it: where none was chosen, the reader's own that
    goes now, which then stays in sight."""
    name = shown_runs().get(issue.slug) or running_of_visitor(issue)
    if name:
        shown_runs()[issue.slug] = name
    return name, EXPERIMENTS.find(name)
