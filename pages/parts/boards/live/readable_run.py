"""The part of a run that its board and its routes read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the routes use this type and exist before the engine is imported
    from pathlib import Path

    from engine.config.run_config import RunConfig
    from engine.runs.events import Ended, Failed, Finished, Progress
    from engine.runs.log import EventLog

LIVE_STATES = ("queued", "running", "paused")
"""The states in which a run may still add events."""


class ReadableRun(Protocol):
    """The part of ``engine.runs.run.Run`` that is read here; events are appended while others read."""

    @property
    def id(self) -> str: ...
    @property
    def config(self) -> RunConfig: ...
    @property
    def state(self) -> str: ...
    @property
    def events(self) -> EventLog: ...
    @property
    def queue_place(self) -> int | None: ...
    @property
    def queue_seconds(self) -> float | None: ...
    @property
    def step(self) -> int: ...
    @property
    def progress(self) -> Progress | None: ...
    @property
    def weights(self) -> Path | None: ...
    @property
    def elsewhere(self) -> bool: ...
    @property
    def machine(self) -> str: ...
    @property
    def setback(self) -> str: ...
    @property
    def ending(self) -> Finished | Failed | Ended | None: ...


def has_ended(run: ReadableRun) -> bool:
    return run.state not in LIVE_STATES


def controlled_as(run: ReadableRun | None) -> str:
    """The state as far as a run's buttons depend on it: a queued run has those of a running one. Empty without a run."""
    return "" if run is None else "running" if run.state == "queued" else run.state
