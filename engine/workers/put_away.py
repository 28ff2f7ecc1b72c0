"""Which runs are put away: those that stand still, and those that go on for nobody, give their place on the worker back."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.workers.process import WorkerProcess
from engine.workers.protocol import PutAway
from engine.workers.queued import QueuedRun

PAUSED_FOR = 30.0
"""Seconds after which a paused run is put away."""
PAUSED_WHILE_OTHERS_WAIT = 2.0
"""The same while other runs wait for a place."""
LEFT_FOR = 300.0
"""Seconds after which a run goes on without anybody who watches it; then it is put away until its owner is back."""
SHORT = 60.0
"""A run with fewer predicted seconds left is trained to its end, whoever watches."""


class Presence:
    """How long each visitor has had no page open. ``here``: whether a visitor has one now."""

    def __init__(self, here: Callable[[str], bool]) -> None:
        self.here = here
        self._last_here: dict[str, float] = {}

    def seconds_away(self, visitor: str, now: float) -> float:
        """Seconds since the visitor was last found here, counted from the first question; 0 for the program itself."""
        if not visitor or self.here(visitor):
            self._last_here[visitor] = now
        return now - self._last_here.setdefault(visitor, now)


def put_away_idle(workers: Iterable[WorkerProcess], presence: Presence, now: float, *, others_wait: bool) -> None:
    """Ask the workers to put away the runs that stand still, and those that go on for nobody."""
    longest = PAUSED_WHILE_OTHERS_WAIT if others_wait else PAUSED_FOR
    for worker in workers:
        for queued in worker.runs.values():
            if queued.leaving or not queued.request.is_saved or now < queued.put_away_after:
                continue
            if queued.paused_at is not None:
                due = now - queued.paused_at > longest
            else:
                going = queued.run.state == "running" and queued.seconds_left > SHORT
                due = going and presence.seconds_away(queued.run.owner, now) > LEFT_FOR
                queued.left = due
            if due and queued.stop_asked_at is None:
                _ask(worker, queued)


def put_away_all(workers: Iterable[WorkerProcess]) -> bool:
    """Ask the workers to put every run away: the app closes. Returns whether there is any left to wait for."""
    left = [(worker, queued) for worker in workers for queued in worker.runs.values() if queued.request.is_saved]
    for worker, queued in left:
        if not queued.leaving:
            _ask(worker, queued)
    return bool(left)


def _ask(worker: WorkerProcess, queued: QueuedRun) -> None:
    queued.leaving = True
    worker.send(PutAway(queued.run.id))
