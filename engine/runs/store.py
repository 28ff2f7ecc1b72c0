import re
import secrets
import shutil
import time
from collections import OrderedDict
from contextlib import suppress
from itertools import chain
from pathlib import Path
from threading import Event as Signal
from threading import Lock, RLock

from engine.config.run_config import RunConfig
from engine.foundation.files import data_folder, delete_abandoned, is_abandoned, write_whole
from engine.foundation.log import log_error
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.events import Ended
from engine.runs.folder import RunFolder
from engine.runs.request import RunRequest
from engine.runs.retention import Retention, StoredRun, no_pin, too_many
from engine.runs.run import Run
from engine.runs.saved_request import write_request

# the form of secrets.token_urlsafe(12); a name of any other form never becomes a path
RUN_ID = re.compile(r"[A-Za-z0-9_-]{16}")
EVERYTHING = Retention()
PRUNE_EVERY = 600.0  # seconds between two prunings
MAX_BYTES_IN_MEMORY = 16 * 2**20  # ended runs kept in memory; older runs are read from disk again


class Runs:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = (folder or data_folder() / "runs").resolve()
        self._lock = RLock()
        self._live: dict[str, Run] = {}
        self._ended_runs: OrderedDict[str, Run] = OrderedDict()
        self._reading: dict[str, Lock] = {}  # by id, for the runs whose folders are being read
        self._index: dict[str, tuple[float, str]] | None = None

    def create(self, config: RunConfig, owner: str = "", request: RunRequest | None = None) -> Run:
        """Create a queued run with its folder; with the ``request`` in it the run can continue without its server. Raises OSError,
        and then leaves nothing."""
        run_id, created = secrets.token_urlsafe(12), time.time()
        folder = self._files(run_id)
        folder.write_config(run_id, config, owner, created)
        run = Run(run_id, config, folder, owner, created)
        try:
            if request is not None and request.is_saved:
                write_request(run, request)
        except OSError:
            shutil.rmtree(folder.path, ignore_errors=True)
            raise
        with self._lock:
            self._live[run_id] = run
            if self._index is not None:
                self._index[run_id] = created, owner
        return run

    def get(self, run_id: str) -> Run | None:
        if not RUN_ID.fullmatch(run_id):
            return None
        with self._lock:
            if (run := self._in_memory(run_id)) is not None:
                return run
            reading = self._reading.setdefault(run_id, Lock())
        with reading:  # a folder is read once, and requests for other runs do not wait for it
            with self._lock:
                run = self._in_memory(run_id)
            try:
                run = run or self._from_disk(run_id)
            finally:
                with self._lock:
                    self._reading.pop(run_id, None)
                    if run is not None and (run.checkpointed or not run.live):
                        self._hold(run)
        return run

    def bring_back(self, run: Run, setback: str = "") -> bool:
        """Let a checkpointed run continue; ``setback``: the sentence if it first repeats steps. False if another thread did so
        already, or it has ended."""
        with self._lock:
            was_queued = run.queue_again(setback, checkpointed=True)
            if was_queued:
                self._ended_runs.pop(run.id, None)
                self._live[run.id] = run
            return was_queued

    def going(self) -> list[Run]:
        """The runs that nobody had paused when their server ended, and that can continue here; the oldest first. Reads the disk."""
        folders = [file.parent for file in self.folder.glob("*/request.json")]
        going = (self.get(path.name) for path in folders if self._files(path.name).read_saved_request().get("going"))
        resumable = [run for run in going if run is not None and run.checkpointed]
        return sorted(resumable, key=lambda run: run.created)

    def live(self) -> list[Run]:
        with self._lock:
            self._sort_out()
            return list(self._live.values())

    def recent(self, owner: str | None = None, count: int = 10) -> list[Run]:
        known = [(created, run_id) for run_id, (created, of) in self._known_runs().items() if owner in (None, of)]
        found = (self.get(run_id) for _, run_id in sorted(known, reverse=True)[:count])
        return [run for run in found if run is not None]

    def delete(self, run_id: str, by: Visitor = PROGRAM) -> None:
        """Delete a run that has ended or is a checkpoint, and its folder. Raises ValueError with one sentence if it is not the
        visitor's, OSError if the disk does not delete it."""
        run = self._of_visitor(run_id, by)
        if run is not None and (run.checkpointed or not run.live):
            with suppress(FileNotFoundError):  # somebody was quicker
                self._delete(run_id)

    def pin(self, run_id: str, by: Visitor = PROGRAM, allowed: Retention = EVERYTHING) -> None:
        """Keep a run when there are too many. Raises ValueError with one sentence if it is not the visitor's or too many are kept
        already, OSError if the disk does not take it."""
        run = self._of_visitor(run_id, by)
        if run is None or run.pinned:
            return
        owners = {other: owner for other, (_, owner) in self._known_runs().items()}
        pinned = [self._stored_run(other, owner) for other, owner in owners.items() if self._files(other).pin.exists()]
        if sentence := no_pin(pinned, self._stored_run(run_id, run.owner), allowed):
            raise ValueError(sentence)
        write_whole(self._files(run_id).pin, "")

    def unpin(self, run_id: str, by: Visitor = PROGRAM) -> None:
        """Raises ValueError with one sentence if the run is not the visitor's."""
        if self._of_visitor(run_id, by) is not None:
            self._files(run_id).pin.unlink(missing_ok=True)

    def prune(self, allowed: Retention) -> None:
        known = self._known_runs(reread=True)
        live = {run.id for run in self.live()}
        newest_first = sorted(known, key=lambda run_id: known[run_id], reverse=True)
        folders = [self._stored_run(run_id, known[run_id][1], live=run_id in live) for run_id in newest_first]
        for run_id in too_many(folders, allowed):
            with suppress(OSError):  # tried again the next time
                self._delete(run_id)
        for entry in self.folder.glob("*/"):
            if not (entry / "config.json").exists() and is_abandoned(entry):
                shutil.rmtree(entry, ignore_errors=True)
        delete_abandoned(chain(self.folder.glob("*/*.part"), self.folder.glob("*/snapshots/*.part")))

    def keep_pruned(self, allowed: Retention, over: Signal) -> None:
        while not over.is_set():
            try:
                self.prune(allowed)
            except Exception as error:  # tried again the next time
                log_error("Deleting old runs", error)
            over.wait(PRUNE_EVERY)

    def _of_visitor(self, run_id: str, by: Visitor) -> Run | None:
        run = self.get(run_id)
        if run is not None and not by.may_steer(run.owner):
            raise ValueError("Somebody else started this run. Only they can keep or delete it.")
        return run

    def _files(self, run_id: str) -> RunFolder:
        return RunFolder(self.folder / run_id)

    def _stored_run(self, run_id: str, owner: str, *, live: bool = False) -> StoredRun:
        folder = self._files(run_id)
        try:
            size = folder.size()
        except OSError:
            size = 0
        return StoredRun(run_id, owner, size, pinned=folder.pin.exists(), live=live)

    def _delete(self, run_id: str) -> None:
        with self._lock:
            run = self._ended_runs.pop(run_id, None)
        if run is not None and run.checkpointed:  # a page may still show it
            run.append([Ended(run.step, "stopped", "It was deleted.")])
        shutil.rmtree(self._files(run_id).path)
        with self._lock:
            if self._index is not None:
                self._index.pop(run_id, None)

    def _in_memory(self, run_id: str) -> Run | None:
        self._sort_out()
        if run_id in self._ended_runs:
            self._ended_runs.move_to_end(run_id)
        return self._live.get(run_id) or self._ended_runs.get(run_id)

    def _from_disk(self, run_id: str) -> Run | None:
        try:
            run = Run.from_disk(self._files(run_id))
        except (OSError, ValueError):
            return None
        return run if run.id == run_id else None  # some file systems ignore case

    def _sort_out(self) -> None:
        for run in [run for run in self._live.values() if run.checkpointed or not run.live]:
            del self._live[run.id]
            self._hold(run)

    def _hold(self, run: Run) -> None:
        self._ended_runs[run.id] = run
        self._ended_runs.move_to_end(run.id)
        n_bytes = sum(one.nbytes for one in self._ended_runs.values())
        while n_bytes > MAX_BYTES_IN_MEMORY and len(self._ended_runs) > 1:
            n_bytes -= self._ended_runs.popitem(last=False)[1].nbytes

    def _known_runs(self, *, reread: bool = False) -> dict[str, tuple[float, str]]:
        """Time of creation and owner of every run on disk, by id; read once, or again (``reread``), since others may have deleted some.
        Called without the lock."""
        with self._lock:
            if self._index is not None and not reread:
                return dict(self._index)
            before = set(self._index or ())
        index: dict[str, tuple[float, str]] = {}
        for entry in self.folder.glob("*/config.json"):
            with suppress(OSError, ValueError):
                run_id, _, owner, created = self._files(entry.parent.name).read_config()
                if entry.parent.name == run_id and RUN_ID.fullmatch(run_id):
                    index[run_id] = created, owner
        with self._lock:
            made_meanwhile = (run for run in (*self._ended_runs.values(), *self._live.values()) if run.id not in before)
            self._index = index | {run.id: (run.created, run.owner) for run in made_meanwhile}
            return dict(self._index)
