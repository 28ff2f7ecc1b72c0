"""The pool's side of one worker process: its pipes, its death, and what it is busy with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Event as Signal
from threading import Thread
from typing import Any, BinaryIO, cast

import psutil

from engine.foundation.paths import DATA_VARIABLE, data_folder
from engine.runs.record_options import EVERYTHING, Watch
from engine.runs.store import Run
from engine.workers import protocol

ROOT = Path(__file__).resolve().parents[2]
"""Where ``python -m engine.workers.worker`` finds the package."""
KEPT_BLOCKS = {"MALLOC_MMAP_THRESHOLD_": str(64 * 2**20), "MALLOC_TRIM_THRESHOLD_": str(128 * 2**20)}
"""Bytes. By default glibc returns a step's large blocks to the system and meets every page of them anew in the next step."""
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""NumPy's products as well as PyTorch's: the cores are shared out among the workers already."""


@dataclass
class Ticket:
    """A run on its way through the pool."""

    run: Run
    alone: bool = False
    accelerator: bool = False
    """Whether it needs a worker that owns a GPU."""
    paused: bool = False
    """Whether it starts paused."""
    watch: Watch = EVERYTHING
    early_steps: int = 0
    """Single steps asked for before it had a worker."""
    paused_at: float | None = None
    stop_asked: float | None = None

    def hear_early(self, control: protocol.Control) -> None:
        """Take in what its owner asks for while it waits."""
        match control:
            case protocol.Pause():
                self.paused = True
            case protocol.Step():
                self.paused, self.early_steps = True, self.early_steps + 1
            case protocol.Resume():
                self.paused, self.early_steps = False, 0


@dataclass
class Job:
    """A short job and the thread that waits for it."""

    ask: protocol.Ask
    alone: bool = False
    done: Signal = field(default_factory=Signal)
    value: bytes = b""
    """Pickled, once it is done."""
    error: str = ""
    """One sentence, where it came to nothing."""

    def finish(self, answer: protocol.Answer) -> None:
        self.value, self.error = answer.value, answer.error
        self.done.set()

    def give_up(self, sentence: str) -> None:
        self.error = sentence
        self.done.set()


@dataclass(frozen=True)
class Verdict:
    """Why the pool ended a worker."""

    reason: str
    """What it did, as in "it ... and was ended"."""
    culprit: str | None = None
    """The run or job that did it; None when it was the worker as a whole."""


class Child:
    """One worker process. ``on_report`` is called on the child's own reader thread, ``on_death`` last of all."""

    def __init__(
        self,
        slot: int,
        training: str,
        on_report: Callable[[Child, protocol.Report], None],
        on_death: Callable[[Child], None],
    ) -> None:
        self.slot = slot
        self.ready = False
        self.facts: dict[str, Any] = {}
        self.tickets: dict[str, Ticket] = {}
        self.jobs: dict[str, Job] = {}
        self.doing: str | None = None
        self.heard = time.monotonic()
        self.born = self.heard
        self.first_memory = 0
        """Resident bytes once it was warm."""
        self.verdict: Verdict | None = None
        """Why the pool ended this worker; None when it did not."""
        self._on_report, self._on_death = on_report, on_death
        self._outbox: SimpleQueue[protocol.Command | None] = SimpleQueue()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "engine.workers.worker", "--training", training, "--slot", str(slot)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=KEPT_BLOCKS | os.environ | ONE_THREAD | {DATA_VARIABLE: str(data_folder().absolute())},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._reader = Thread(target=self._read, name=f"worker-{slot}-reader", daemon=True)
        self._writer = Thread(target=self._write, name=f"worker-{slot}-writer", daemon=True)
        self._reader.start()
        self._writer.start()

    def send(self, command: protocol.Command) -> None:
        """Never blocks, not even when the worker hangs with a full pipe."""
        self._outbox.put(command)

    @property
    def open(self) -> bool:
        """Whether it takes runs and jobs."""
        return self.ready and self.verdict is None

    @property
    def held_alone(self) -> bool:
        """Whether a run has this worker to itself."""
        return any(ticket.alone for ticket in self.tickets.values())

    @property
    def load(self) -> int:
        """Runs that take turns on it."""
        return sum(ticket.paused_at is None for ticket in self.tickets.values())

    @property
    def owns_accelerator(self) -> bool:
        return self.slot < int(self.facts.get("accelerators", 0))

    def kill(self, verdict: Verdict) -> None:
        self.verdict = self.verdict or verdict
        self.process.kill()

    def ask_to_leave(self) -> None:
        """Close the worker's stdin: it goes by itself."""
        self._outbox.put(None)

    def join(self, timeout: float) -> None:
        """Wait for it to be gone; after the timeout (s) it is killed. Leaves neither process nor thread behind."""
        self._reader.join(timeout)
        if self._reader.is_alive():
            self.process.kill()
            self._reader.join(timeout)

    def memory(self) -> int:
        """Resident bytes; 0 when it is gone."""
        try:
            return int(psutil.Process(self.process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def why_it_ended(self, task_id: str) -> str:
        """For one of its runs or jobs, in one sentence, once it has ended."""
        code = self.process.returncode
        if self.verdict is None:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return f"Its worker process ended unexpectedly ({how})."
        if self.verdict.culprit is None:
            return f"Its worker {self.verdict.reason} and was ended."
        if self.verdict.culprit == task_id:
            return f"It {self.verdict.reason} and was ended."
        return f"Its worker was ended because something else on it {self.verdict.reason}."

    def _read(self) -> None:
        stream = cast(BinaryIO, self.process.stdout)
        try:
            while True:
                report = protocol.receive(stream)
                self.heard = time.monotonic()
                self._on_report(self, report)
        except EOFError:
            pass
        except Exception:  # what it says cannot be understood or kept: do without it
            traceback.print_exc(file=sys.stderr)
        self.process.kill()
        self.process.wait()
        self._outbox.put(None)
        self._writer.join()
        stream.close()
        self._on_death(self)

    def _write(self) -> None:
        stream = cast(BinaryIO, self.process.stdin)
        try:
            while (command := self._outbox.get()) is not None:
                protocol.send(stream, command)
        except OSError:
            pass  # it is gone; the reader notices
        finally:
            with suppress(OSError):
                stream.close()
