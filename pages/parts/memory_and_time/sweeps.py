"""The sweeps of this server process, and the stored ones."""

from __future__ import annotations

from engine.sweeps import store
from engine.sweeps.result import Result
from engine.sweeps.sweep import Sweep
from pages.parts.app.task_registry import TaskRegistry

SWEEPS: TaskRegistry[Sweep] = TaskRegistry("sweep")


def begin(sweep: Sweep) -> str:
    """Start a sweep and return its name. Raises Refused where the visitor has one running."""

    def keep(name: str) -> None:
        """Store the result, also after a stop."""
        if sweep.result.visits:
            store.keep(name, sweep.result)

    return SWEEPS.begin(sweep, keep=keep)


def result_of(name: str) -> Result | None:
    """The result of a running or stored sweep; None where there is none of that name."""
    sweep = SWEEPS.find(name)
    return sweep.result if sweep is not None else store.find(name)
