"""The experiments of this server process; what a finished one found is kept."""

from __future__ import annotations

from engine.experiments.experiment import Experiment
from engine.experiments.store import keep
from pages.parts.app.task_registry import TaskRegistry

EXPERIMENTS: TaskRegistry[Experiment] = TaskRegistry()


def begin(experiment: Experiment) -> str:
    """Start an experiment on an issue; its name. Raises Refused where the session has one going."""

    def keep_if_finished(_: str) -> None:
        if experiment.state == "finished":
            keep(experiment)

    return EXPERIMENTS.begin(experiment, keep=keep_if_finished)
