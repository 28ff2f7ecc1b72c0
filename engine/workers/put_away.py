"""Runs that are put away: a run that stands still, or whose owner has left, gives its place on the worker back.

The worker saves the run's training state in its folder; beside it stands what was asked for when the run was submitted. Both
together make a run that its owner can resume, through the queue and on any worker, also after a restart of the server.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, replace

from engine.foundation.files import write_whole
from engine.foundation.visitor import Visitor
from engine.runs.events import Ended
from engine.runs.folder import RunFolder
from engine.runs.record_options import RecordOptions
from engine.runs.request import RunRequest
from engine.runs.run import Run
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
AGAIN_AFTER = 30.0
"""Seconds until the next attempt where the disk did not take a state."""


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
            if queued.leaving or queued.request.trial or queued.request.alone or now < queued.put_away_after:
                continue
            if queued.paused_at is not None:
                due = now - queued.paused_at > longest
            else:
                going = queued.run.state == "running" and queued.seconds_left > SHORT
                due = going and presence.seconds_away(queued.run.owner, now) > LEFT_FOR
                queued.left = due
            if due and queued.stop_asked_at is None:
                queued.leaving = True
                worker.send(PutAway(queued.run.id))


def write_request(folder: RunFolder, request: RunRequest) -> None:
    """Keep what was asked for beside the saved state. Raises OSError where the disk does not take it."""
    row = {"pace": request.pace, "record": asdict(request.record)}
    write_whole(folder.put_away, json.dumps(row))


def set_pace(run: Run, steps_per_second: float | None) -> None:
    """Set the pace with which a run that is put away goes on."""
    with suppress(OSError):
        write_request(RunFolder(run.folder), replace(read_request(run), pace=steps_per_second))


def give_up(run: Run) -> None:
    """End a run that is put away. Its weights stay."""
    run.append([Ended(run.step, "stopped")])
    for file in (RunFolder(run.folder).put_away, RunFolder(run.folder).state):
        with suppress(OSError):
            file.unlink()


def read_request(run: Run, address: str = "") -> RunRequest:
    """What was asked for when a run that is put away was submitted; it waits until it is resumed. Where that cannot be read,
    the defaults."""
    owner = Visitor(run.owner, address)
    try:
        row = json.loads(RunFolder(run.folder).put_away.read_text("utf-8"))
        record = RecordOptions(**{**row["record"], "measurements": tuple(row["record"]["measurements"])})
        pace = None if row["pace"] is None else float(row["pace"])
        return RunRequest(run.config, owner, pace=pace, paused=True, record=record)
    except (OSError, ValueError, KeyError, TypeError):
        return RunRequest(run.config, owner, paused=True)


def leave(queued: QueuedRun) -> None:
    """Record that a run's worker has saved its state and let it go."""
    with suppress(OSError):  # it can be resumed in this process all the same: the state is there
        write_request(RunFolder(queued.run.folder), queued.request)
    queued.run.put_away()


def try_later(queued: QueuedRun) -> None:
    """A run's worker could not save its state: the run stays, and it is asked again in a while."""
    queued.leaving, queued.wanted = False, False
    queued.put_away_after = time.monotonic() + AGAIN_AFTER
