"""Which runs are put away: those that stand still, and, while others wait, those that go on for nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.workers.process import WorkerProcess
from engine.workers.protocol import PutAway
from engine.workers.queued import QueuedRun

PAUSED_FOR = 30.0
"""Seconds after which a paused run is put away."""
PAUSED_WHILE_OTHERS_WAIT = 2.0
"""The same while other runs wait for a place."""
LEFT_FOR = 5.0
"""Seconds without an open page after which a run's owner has left: a page that is loaded anew is closed for a moment."""


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


def put_away_idle(workers: Iterable[WorkerProcess], presence: Presence, now: float, waiting: int) -> None:
    """Ask the workers to put away the runs that stand still, and as many of those that go on for nobody as runs are ``waiting``: who
    has left makes room, the longest away first."""
    longest = PAUSED_WHILE_OTHERS_WAIT if waiting else PAUSED_FOR
    going = list[tuple[float, WorkerProcess, QueuedRun]]()
    for worker in workers:
        for queued in worker.runs.values():
            away = presence.seconds_away(queued.run.owner, now)
            if queued.leaving:
                waiting -= 1
            if queued.leaving or queued.stop_asked_at or not queued.request.is_saved or now < queued.put_away_after:
                continue
            if queued.paused_at is not None:
                if now - queued.paused_at > longest:
                    _ask(worker, queued)
                    waiting -= 1
            elif away > LEFT_FOR and queued.run.state == "running":
                going.append((away, worker, queued))
    for _, worker, queued in sorted(going, key=lambda found: -found[0])[: max(0, waiting)]:
        queued.left = True
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
