"""The measurements of this server process, and those that were left on disk."""

from __future__ import annotations

from engine.sweeps import store
from engine.sweeps.result import Result
from engine.sweeps.sweep import Sweep
from pages.parts.app.task_registry import TaskRegistry

SWEEPS: TaskRegistry[Sweep] = TaskRegistry()


def begin(sweep: Sweep) -> str:
    """Start a measurement; its name. Raises Refused where the session has one going."""

    def keep(name: str) -> None:
        """What was measured before a stop, too."""
        if sweep.result.visits:
            store.keep(name, sweep.result)

    return SWEEPS.begin(sweep, keep=keep)


def result_of(name: str) -> Result | None:
    """As it stands, or as it was left on disk; None where there is none of that name."""
    sweep = SWEEPS.find(name)
    return sweep.result if sweep is not None else store.find(name)
