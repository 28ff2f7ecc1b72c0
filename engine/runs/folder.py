"""A run on disk: ``config.json``, ``events.jsonl``, ``snapshots/<step>.npz`` and the worker's ``weights.safetensors``.

A run that comes with the app has the arrays of all its snapshots in one file.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np
import pydantic_core

from engine.config.run_config import RunConfig, parse_leniently
from engine.foundation.files import append_whole, replacing, write_whole
from engine.foundation.provenance import Provenance, provenance
from engine.foundation.stored_json import read_json, read_table
from engine.runs.events import ARRAYS, Event, Snapshot, from_json, to_json

# bytes of one run's snapshots; above it, every second one between the first and the last is deleted
LARGEST_SNAPSHOTS = 256 * 2**20
# held while arrays are read: up to Python 3.11.7, several threads that read the heads of arrays at once may get a SystemError
# (https://github.com/python/cpython/issues/106905)
READING = Lock()


class StoredArrays(Mapping[str, np.ndarray]):
    """A snapshot's arrays whose names in a file begin with ``group``; empty if the file was deleted to save space, or is damaged."""

    def __init__(self, file: Path, group: str, in_memory: Mapping[str, np.ndarray] | None = None) -> None:
        # read on access: else a page would hold the arrays of every run in memory
        self._file, self._group, self._in_memory = file, group, in_memory

    def release(self) -> None:
        self._in_memory = None

    def _arrays(self) -> Mapping[str, np.ndarray]:
        in_memory = self._in_memory
        if in_memory is not None:
            return in_memory
        try:
            with READING, np.load(self._file, allow_pickle=False) as stored:
                begin = f"{self._group}/"
                return {name.removeprefix(begin): stored[name] for name in stored.files if name.startswith(begin)}
        except (OSError, EOFError, ValueError, BadZipFile, zlib.error):
            return {}

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays())

    def __len__(self) -> int:
        return len(self._arrays())

    # The default views would read the file once more for every array.
    def items(self) -> ItemsView[str, np.ndarray]:
        return self._arrays().items()

    def values(self) -> ValuesView[np.ndarray]:
        return self._arrays().values()


class RunFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.weights = path / "weights.safetensors"
        self.snapshots = path / "snapshots.npz"  # all by <step>/<group>/<name>, of a run that comes with the app
        self.state = path / "state.pt"
        """The state of a training, written by its worker once a minute and when the run leaves it. A worker that continues repeats
        the steps up to the last event."""
        self.saved_request = path / "request.json"
        self.pin = path / "pinned"  # exists if the run's owner keeps the run
        self._config, self._events = path / "config.json", path / "events.jsonl"
        self._snapshot_bytes: int | None = None  # counted as they are written; None before this object writes one
        # the bytes of events read from the disk, before this object writes the first one; else None
        self._readable: int | None = None

    @property
    def has_events(self) -> bool:
        return self._events.exists()

    def read_saved_request(self) -> dict[str, Any]:
        return read_table(self.saved_request)

    def delete_half_written(self) -> None:
        for whole in (self.state, self.weights):
            # the folder of a trial may be gone itself, once its numbers are read
            with suppress(OSError):
                for file in self.path.glob(f"{whole.name}.*.part"):
                    file.unlink(missing_ok=True)

    def write_config(self, run_id: str, config: RunConfig, owner: str, created: float) -> None:
        self.path.mkdir(parents=True)
        row = {
            "id": run_id, "session": owner, "created": created, "config": config.flat(), "provenance": provenance(),
        }  # fmt: skip
        try:
            write_whole(self._config, json.dumps(row, indent=1))
        except OSError:
            with suppress(OSError):
                self.path.rmdir()
            raise

    def provenance(self) -> Provenance:
        notes = read_table(self._config).get("provenance")
        return cast(Provenance, notes if isinstance(notes, dict) else {})

    def read_config(self) -> tuple[str, RunConfig, str, float]:
        """Id, config, owner and time of creation, without settings that this version does not know. Raises OSError or ValueError."""
        row = read_json(self._config)
        try:
            config, _ = parse_leniently(row["config"])
            return str(row["id"]), config, str(row["session"]), float(row["created"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{self.path} holds no run") from error

    def write_events(self, events: Sequence[Event]) -> Sequence[Event]:
        """Append the events, and return them with the snapshots' arrays in files; the latest are also in memory.

        Raises OSError if the disk does not take them; ``events.jsonl`` is then unchanged.
        """
        if not events:
            return events
        stored = [self._write_snapshot(event) if isinstance(event, Snapshot) else event for event in events]
        if self._readable is not None:  # else the broken line at the end would hide the events that are added now
            os.truncate(self._events, self._readable)
            self._readable = None
        append_whole(self._events, "".join(json.dumps(to_json(event)) + "\n" for event in stored))
        if self._snapshot_bytes is not None and self._snapshot_bytes > LARGEST_SNAPSHOTS:
            self._thin_snapshots()
        return stored

    def read_events(self) -> Iterator[Event]:
        """Yield the events in order, up to a line that cannot be read or was only partly written: the next events replace it."""
        try:
            lines = self._events.read_bytes().splitlines(keepends=True)
        except OSError:
            return
        self._readable = 0
        for line in lines:
            try:
                event = from_json(pydantic_core.from_json(line))
            except (ValueError, KeyError, TypeError):
                return
            if not line.endswith(b"\n"):
                return
            yield self._store(event) if isinstance(event, Snapshot) else event
            self._readable += len(line)

    def pack(self, snapshot: Snapshot) -> bytes | None:
        """The snapshot without its arrays; None if these are in no file."""
        arrays = (getattr(snapshot, group) for group in ARRAYS)
        if not all(isinstance(one, StoredArrays) for one in arrays):
            return None
        return zlib.compress(json.dumps(to_json(snapshot)).encode(), 1)

    def unpack(self, packed: bytes) -> Snapshot:
        return self._store(cast(Snapshot, from_json(json.loads(zlib.decompress(packed)))))

    def arrays_of(self, step: int, group: str, in_memory: Mapping[str, np.ndarray] | None = None) -> StoredArrays:
        """``group``: one of ``ARRAYS``; ``in_memory``: the arrays that are in memory, too."""
        if self.snapshots.exists():
            return StoredArrays(self.snapshots, f"{step}/{group}", in_memory)
        return StoredArrays(self._snapshot_file(step), group, in_memory)

    def size(self) -> int:
        return sum(entry.stat().st_size for entry in self.path.rglob("*") if entry.is_file())

    def _snapshot_file(self, step: int) -> Path:
        return self.path / "snapshots" / f"{step}.npz"

    def _store(self, event: Snapshot, in_memory: bool = False) -> Snapshot:
        groups = {
            group: self.arrays_of(event.step, group, getattr(event, group) if in_memory else None) for group in ARRAYS
        }
        return replace(event, **cast(Any, groups))

    def _write_snapshot(self, event: Snapshot) -> Snapshot:
        file = self._snapshot_file(event.step)
        arrays = {f"{g}/{name}": array for g in ARRAYS for name, array in getattr(event, g).items()}
        # Readers of the run wait for this, so it is not flushed: a snapshot that a loss of power has damaged is empty.
        with replacing(file, flushed=False) as half_written, half_written.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)
            size = stream.tell()
        known = self._snapshot_bytes
        self._snapshot_bytes = self._measure_snapshots() if known is None else known + size
        return self._store(event, in_memory=True)

    def _snapshot_files(self) -> list[Path]:
        return sorted((self.path / "snapshots").glob("*.npz"), key=lambda file: int(file.stem))

    def _measure_snapshots(self) -> int:
        return sum(file.stat().st_size for file in self._snapshot_files())

    def _thin_snapshots(self) -> None:
        # the running count is too high if a snapshot was written twice
        if self._measure_snapshots() > LARGEST_SNAPSHOTS:
            for file in self._snapshot_files()[1:-1:2]:
                file.unlink(missing_ok=True)
        self._snapshot_bytes = self._measure_snapshots()
