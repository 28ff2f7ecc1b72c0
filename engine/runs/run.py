from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition, Lock
from typing import Literal

from engine.config.run_config import RunConfig
from engine.foundation.log import log_unsaved
from engine.foundation.provenance import Provenance
from engine.runs.events import ARRAYS, Ended, Event, Failed, Finished, Progress, Snapshot, Started
from engine.runs.folder import RunFolder, StoredArrays
from engine.runs.log import EventLog

RunState = Literal["queued", "running", "paused", "finished", "failed", "stopped", "lost"]
BARE_BYTES = 16 * 1024  # the memory of a run without its events: its config, its first and last event, its locks
LIVE: tuple[RunState, ...] = ("queued", "running", "paused")
RETRY_SECONDS = 10.0  # seconds until events that the disk did not take are tried again
CUT_OFF = "The app ended during this run. You see its data up to then."
NOT_BEGUN = "The app ended before this run had begun."


class Run:
    """The events and the state of a run. Other code reads these attributes; only the methods here change them.

    Events are only appended, so other threads may read them meanwhile; an event's number is its index.
    """

    def __init__(self, run_id: str, config: RunConfig, folder: RunFolder, owner: str, created: float) -> None:
        self.id, self.config, self.owner, self.created = run_id, config, owner, created
        self.files, self.folder = folder, folder.path
        self.state: RunState = "queued"
        self.checkpointed = False
        """True if no worker has the run: it is paused, with its request in its folder, and its training state if it had begun."""
        self.machine = ""  # on which the run is or was trained last; empty for the app's own
        # from 1 for the run that starts next; None if the run does not wait
        self.queue_position: int | None = None
        self._starts_at: float | None = None
        self.step = 0
        self.started: Started | None = None
        self.progress: Progress | None = None
        self.snapshot: Snapshot | None = None
        # a sentence if the events could not be written to disk; the run continues in memory, and they are tried again
        self.unsaved = ""
        self.setback = ""
        """One sentence after the run's worker or the app has ended: the step from which it continues, or that it waits for its
        owner. Empty once there is a new event."""
        self.events = EventLog(folder=folder)
        self._written = 0  # the number of events on disk
        self._write_again_at = 0.0
        self.ending: Finished | Failed | Ended | None = None
        self._changed = Condition()
        self._watchers: list[Callable[[], None]] = []
        self._writing = Lock()

    @property
    def pinned(self) -> bool:
        return self.files.pin.exists()

    @property
    def provenance(self) -> Provenance:
        return self.files.provenance()

    @property
    def live(self) -> bool:
        return self.state in LIVE

    @property
    def nbytes(self) -> int:
        return BARE_BYTES + self.events.nbytes

    @property
    def weights(self) -> Path | None:
        """None until the worker has saved the weights."""
        return self.files.weights if self.files.weights.exists() else None

    def wait_for(self, number: int, timeout: float | None = None) -> bool:
        """Wait until ``number`` events exist or the run is over; False if the time (s) was too short."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.events) >= number or not self.live, timeout)

    @contextmanager
    def watched(self, notify: Callable[[], None]) -> Iterator[None]:
        """Call ``notify`` after each change, until the context ends: under the run's lock, from any thread. It must return at once."""
        with self._changed:
            self._watchers.append(notify)
        try:
            yield
        finally:
            with self._changed:
                self._watchers.remove(notify)

    def _tell(self) -> None:
        """Wake the threads that wait for a change. The lock is held."""
        self._changed.notify_all()
        for notify in self._watchers:
            notify()

    def append(self, events: Sequence[Event], state: Literal["running", "paused"] | None = None) -> None:
        """Write and add events, then change the state. An ending ends the run; later events are dropped."""
        with self._writing:  # one writer: the order on disk is that in memory, and no reader waits for the disk
            events = [event for event in events if not self._has(event)]
            if not self.live:
                return
            previous, stored = self.snapshot, self._write(events)
            with self._changed:
                self._add(stored)
                self.setback = "" if events else self.setback
                if state is not None and self.live:
                    self.state = state
                self._tell()
            if previous is not None and previous is not self.snapshot:
                _release(previous)
            if not self.live and self.snapshot is not None:
                _release(self.snapshot)

    def _has(self, event: Event) -> bool:
        """True for an event that a run repeats after it continued from the state of an earlier step: the numbers are the same."""
        match event:
            case Started():
                return self.started is not None
            case Progress():
                return event.step <= self.step
            case Snapshot():
                return event.step < self.step or (self.snapshot is not None and event.step <= self.snapshot.step)
        return False

    def _write(self, events: Sequence[Event]) -> Sequence[Event]:
        """Write the events, after those that the disk did not take before. Return them, with their snapshots' arrays in files if
        the disk has taken them."""
        ends = any(isinstance(event, Finished | Failed | Ended) for event in events)
        # a full disk is tried again now and then, and at the end
        if self.unsaved and not ends and time.monotonic() < self._write_again_at:
            return events
        missing = self.events[self._written :]
        try:
            stored = self.files.write_events([*missing, *events])
        except OSError as error:
            if not self.unsaved:
                log_unsaved("Run %s cannot be saved", self.id, error)
            self.unsaved = f"This run cannot be saved: {error.strerror or error}."
            self._write_again_at = time.monotonic() + RETRY_SECONDS
            return events
        self._written, self.unsaved = len(self.events) + len(events), ""
        return stored[len(missing) :]

    @property
    def queue_seconds(self) -> float | None:
        """The predicted seconds until the run starts; None if it does not wait or nothing is known."""
        return None if self._starts_at is None else max(0.0, self._starts_at - time.monotonic())

    def wait_in_queue(self, rank: int | None, seconds: float | None = None) -> None:
        """None: the run no longer waits. ``seconds``: predicted, until the start."""
        with self._changed:
            self.queue_position = rank
            self._starts_at = None if seconds is None else time.monotonic() + seconds
            self._tell()

    def checkpoint(self, setback: str = "") -> None:
        """Mark that no worker has the run, and that it can continue. ``setback``: the reason, if its worker has ended."""
        with self._changed:
            if self.live:
                self.state, self.checkpointed, self.setback = "paused", True, setback
            self._tell()

    def queue_again(self, setback: str = "", *, checkpointed: bool = False) -> bool:
        """Queue again a run that has left its worker or is ``checkpointed``. ``setback``: a sentence on the steps that it repeats.
        False if it has ended, or another thread has brought it back already."""
        with self._changed:
            comes = self.live and self.checkpointed == checkpointed
            if comes:
                self.state, self.checkpointed, self.setback = "queued", False, setback
                self._tell()
            return comes

    def _add(self, events: Iterable[Event]) -> None:
        for event in events:
            self.events.append(event)
            match event:
                case Started():
                    self.started = event
                case Progress():
                    self.progress, self.step = event, event.step
                case Snapshot():
                    self.snapshot = event
                case Finished() | Failed() | Ended():
                    self.ending, self.state, self.checkpointed = event, _state_after(event), False

    @classmethod
    def from_disk(cls, folder: RunFolder) -> Run:
        """A stored run. Without an ending it is a checkpoint if its request is there; else it is lost with the process that trained
        it."""
        run_id, config, owner, created = folder.read_config()
        run = cls(run_id, config, folder, owner, created)
        with suppress(TypeError, ValueError):  # a damaged step: what stands before it is there
            run._add(folder.read_events())
        run._written = len(run.events)
        if run.live and folder.saved_request.exists():
            run.checkpoint()
        elif run.live:
            run._add([Ended(run.step, "lost", CUT_OFF if folder.has_events else NOT_BEGUN)])
        return run


def _state_after(ending: Finished | Failed | Ended) -> RunState:
    if isinstance(ending, Ended):
        return "stopped" if ending.state == "stopped" else "lost"
    return "finished" if isinstance(ending, Finished) else "failed"


def _release(snapshot: Snapshot) -> None:
    for group in ARRAYS:
        if isinstance(arrays := getattr(snapshot, group), StoredArrays):
            arrays.release()
