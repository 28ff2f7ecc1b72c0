"""The experiments of this server process; the evidence of finished ones is stored."""

from __future__ import annotations

from engine.experiments.experiment import Experiment
from engine.experiments.store import keep
from pages.parts.app.task_registry import TaskRegistry

EXPERIMENTS: TaskRegistry[Experiment] = TaskRegistry()


def begin(experiment: Experiment) -> str:
    """Start an experiment on an issue and return its name. Raises Refused where the session has one running."""

    def keep_if_finished(_: str) -> None:
        if experiment.state == "finished":
            keep(experiment)

    return EXPERIMENTS.begin(experiment, keep=keep_if_finished)
