"""Runs: what is known of each, in memory while it grows and on disk for good."""

from __future__ import annotations

import re
import secrets
import shutil
import sys
import time
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Condition, RLock
from typing import Literal

from engine.config.run_config import RunConfig
from engine.foundation.files import is_abandoned
from engine.foundation.paths import data_folder
from engine.runs.events import ARRAYS, Ended, Event, Failed, Finished, Progress, Snapshot, Started
from engine.runs.folder import RunFolder, StoredArrays

State = Literal["queued", "running", "paused", "finished", "failed", "stopped", "lost"]
LIVE: tuple[State, ...] = ("queued", "running", "paused")

RUN_ID = re.compile(r"[A-Za-z0-9_-]{16}")
"""What ``secrets.token_urlsafe(12)`` makes; nothing else ever reaches the disk."""
HELD_EVENTS = 50_000
"""Events of ended runs that are kept in memory; older ones are read from disk again."""


class Run:
    """One run. Its events only grow at the end, so others may read while it does; an event's number is its place."""

    def __init__(self, run_id: str, config: RunConfig, folder: RunFolder, session: str, created: float) -> None:
        self.id, self.config, self.session, self.created = run_id, config, session, created
        self.folder = folder.path
        self.state: State = "queued"
        self.queue_place: int | None = None
        """1 for the run that starts next; None when it does not wait."""
        self.step = 0
        self.started: Started | None = None
        self.progress: Progress | None = None
        self.snapshot: Snapshot | None = None
        """The latest."""
        self.unsaved = ""
        """One sentence where the events could not be written to disk; the run goes on in memory."""
        self._disk = folder
        self._events: list[Event] = []
        self._changed = Condition()

    @property
    def events(self) -> Sequence[Event]:
        return self._events

    @property
    def live(self) -> bool:
        return self.state in LIVE

    @property
    def ending(self) -> Finished | Failed | Ended | None:
        last = self._events[-1] if self._events else None
        return last if isinstance(last, Finished | Failed | Ended) else None

    @property
    def weights(self) -> Path | None:
        """The trained weights, once the worker has left them."""
        return self._disk.weights if self._disk.weights.exists() else None

    def events_since(self, number: int) -> list[Event]:
        """The events from that number on."""
        return self._events[max(0, number) :]

    def wait_for(self, number: int, timeout: float | None = None) -> bool:
        """Wait until so many events exist or the run is over; False when the time (s) was too short."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._events) >= number or not self.live, timeout)

    def append(self, events: Sequence[Event]) -> None:
        """Write and add events. An ending ends the run; what comes after it is dropped."""
        with self._changed:
            if not self.live:
                return
            previous = self.snapshot
            self._add(self._written(events))
            if previous is not None and previous is not self.snapshot:
                _release(previous)
            self._changed.notify_all()

    def turn(self, state: State) -> None:
        """Go from one live state to another."""
        with self._changed:
            if self.live:
                self.state = state
            self._changed.notify_all()

    def _written(self, events: Sequence[Event]) -> Sequence[Event]:
        try:
            kept = self._disk.write_events(events)
            if any(isinstance(event, Snapshot) for event in events):
                self._disk.thin_snapshots()
            return kept
        except OSError as error:
            if not self.unsaved:
                print(f"Run {self.id} cannot be saved: {error}", file=sys.stderr)
            self.unsaved = f"This run cannot be saved: {error.strerror or error}."
            return events

    def _add(self, events: Sequence[Event]) -> None:
        self._events.extend(events)
        for event in events:
            match event:
                case Started():
                    self.started = event
                case Progress():
                    self.progress, self.step = event, event.step
                case Snapshot():
                    self.snapshot = event
                case Finished():
                    self.state = "finished"
                case Failed():
                    self.state = "failed"
                case Ended():
                    self.state = "stopped" if event.state == "stopped" else "lost"

    @classmethod
    def from_disk(cls, folder: RunFolder) -> Run:
        """A run as it was left. One that never came to an end is lost: whoever ran it is gone."""
        run_id, config, session, created = folder.read_config()
        run = cls(run_id, config, folder, session, created)
        run._add(folder.read_events())
        if run.live:
            run._add([Ended(run.step, "lost", "The app ended while this run was going; what it had written is here.")])
        return run


def _release(snapshot: Snapshot) -> None:
    for group in ARRAYS:
        if isinstance(arrays := getattr(snapshot, group), StoredArrays):
            arrays.release()


class Runs:
    """Every run by its id: the live ones, and those on disk."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder or data_folder() / "runs").resolve()
        self._lock = RLock()
        self._live: dict[str, Run] = {}
        self._ended: OrderedDict[str, Run] = OrderedDict()
        self._index: dict[str, tuple[float, str]] | None = None

    def create(self, config: RunConfig, session: str = "") -> Run:
        """A new, queued run with its folder. Raises OSError where the disk does not take it."""
        run_id, created = secrets.token_urlsafe(12), time.time()
        folder = RunFolder(self.folder / run_id)
        folder.write_config(run_id, config, session, created)
        run = Run(run_id, config, folder, session, created)
        with self._lock:
            self._live[run_id] = run
            if self._index is not None:
                self._index[run_id] = created, session
        return run

    def get(self, run_id: str) -> Run | None:
        """The run of that id, or None where there is none."""
        if not RUN_ID.fullmatch(run_id):
            return None
        with self._lock:
            self._sort_out()
            run = self._live.get(run_id) or self._ended.get(run_id)
            if run is None:
                try:
                    run = Run.from_disk(RunFolder(self.folder / run_id))
                except (OSError, ValueError):
                    return None
                if run.id != run_id:  # a disk that does not tell capitals from small letters
                    return None
            if not run.live:
                self._hold(run)
            return run

    def live(self) -> list[Run]:
        with self._lock:
            self._sort_out()
            return list(self._live.values())

    def recent(self, session: str | None = None, count: int = 10) -> list[Run]:
        """The newest runs, newest first; of one session where it is given."""
        with self._lock:
            known = [(created, run_id) for run_id, (created, of) in self._known().items() if session in (None, of)]
        found = (self.get(run_id) for _, run_id in sorted(known, reverse=True)[:count])
        return [run for run in found if run is not None]

    def delete(self, run_id: str) -> None:
        """Forget an ended run and its folder."""
        run = self.get(run_id)
        if run is not None and not run.live:
            self._delete(RunFolder(self.folder / run_id), run_id)

    def prune(self, kept_runs: int, kept_bytes: int) -> None:
        """Delete the oldest ended runs until what is left is within both bounds, and folders in which no run was ever written."""
        with self._lock:
            live = {run.id for run in self.live()}
            newest_first = sorted(self._known(), key=lambda run_id: self._known()[run_id], reverse=True)
        size = 0
        for place, run_id in enumerate(newest_first):
            folder = RunFolder(self.folder / run_id)
            try:
                size += folder.size()
            except OSError:
                continue
            if run_id not in live and (place >= kept_runs or size > kept_bytes):
                self._delete(folder, run_id)
        for entry in self.folder.glob("*/"):
            if not (entry / "config.json").exists() and is_abandoned(entry):
                shutil.rmtree(entry, ignore_errors=True)

    def _delete(self, folder: RunFolder, run_id: str) -> None:
        with self._lock:
            self._known().pop(run_id, None)
            self._ended.pop(run_id, None)
        shutil.rmtree(folder.path, ignore_errors=True)

    def _sort_out(self) -> None:
        """Move the runs that ended since from the live ones to those held for a while."""
        for run in [run for run in self._live.values() if not run.live]:
            del self._live[run.id]
            self._hold(run)

    def _hold(self, run: Run) -> None:
        self._ended[run.id] = run
        self._ended.move_to_end(run.id)
        events = sum(len(held.events) for held in self._ended.values())
        while events > HELD_EVENTS and len(self._ended) > 1:
            events -= len(self._ended.popitem(last=False)[1].events)

    def _known(self) -> dict[str, tuple[float, str]]:
        """Time of creation and session of every run on disk, by id; read once."""
        if self._index is None:
            self._index = {}
            for entry in self.folder.glob("*/config.json"):
                try:
                    run_id, _, session, created = RunFolder(entry.parent).read_config()
                except (OSError, ValueError):
                    continue
                if entry.parent.name == run_id and RUN_ID.fullmatch(run_id):
                    self._index[run_id] = created, session
        return self._index
