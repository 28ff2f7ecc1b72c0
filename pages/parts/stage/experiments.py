"""The experiments of this server process: started over what is stored of them, their evidence stored at the end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from engine.experiments.comparison import Comparison
from engine.experiments.evidence import store
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.running.shared_trials import SharedTrials
from engine.experiments.trial import Trial
from pages.parts.app import server
from pages.parts.app.task_registry import TaskRegistry
from pages.parts.app.visitor import visitor

EXPERIMENTS: TaskRegistry[ExperimentRun] = TaskRegistry("experiment")
SHARED = SharedTrials()
"""The trials under way: who presses Run beside others follows theirs."""


def begin(
    experiment: Experiment,
    *,
    extended: bool = False,
    stored: Sequence[Trial] = (),
    comparison: Comparison | None = None,
) -> str:
    """Start an experiment and return the name of its run. Trials in ``stored`` or in the cache are not trained again.

    A ``comparison`` goes by its own name, by which it is also stored, and that after a stop too; if it is running already, no
    second one is started. Raises Refused where the visitor has another experiment running, ConfigError for its settings.
    """
    known = {(trial.arm, trial.seed): trial for trial in stored if not trial.outcome}

    def find(arm: Arm, seed: int) -> Trial | None:
        return known.get((arm.name, seed)) or trial_cache.find(experiment, arm, seed)

    def save(_: str) -> None:
        if comparison is not None or run.state == "finished":
            store.save(run, comparison)
        trial_cache.delete_oldest()

    run = ExperimentRun(
        experiment, server.pool(), extended=extended, visitor=visitor(),
        find=find, save=partial(trial_cache.save, experiment), shared=SHARED,
    )  # fmt: skip
    return EXPERIMENTS.begin(run, name=comparison.name if comparison else "", keep=save)
