"""The pool's side of one worker process: its pipes, its end, and the run or job it computes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, cast

import psutil

from engine.foundation.paths import DATA_VARIABLE, data_folder
from engine.runs.events import Ended
from engine.workers import protocol
from engine.workers.queued import QueuedJob, QueuedRun

ROOT = Path(__file__).resolve().parents[2]
"""The folder in which ``python -m engine.workers.worker`` finds the package."""
KEPT_BLOCKS = {"MALLOC_MMAP_THRESHOLD_": str(64 * 2**20), "MALLOC_TRIM_THRESHOLD_": str(128 * 2**20)}
"""In bytes. By default glibc returns a step's large blocks to the system and maps every page of them again in the next step."""
AGAIN = " The same settings and seed give the same run again."
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""The variable holds for NumPy as well as for PyTorch: the workers already share the cores."""


@dataclass(frozen=True)
class KillReason:
    """Why the pool killed a worker process."""

    what: str
    """The worker's fault, to complete the sentence "it ... and was ended"."""
    culprit: str | None = None
    """The id of the run or job that did it; None when it was the worker as a whole."""


class WorkerProcess:
    """One worker process. ``on_report`` is called on the worker's own reader thread, ``on_death`` last of all."""

    def __init__(
        self,
        slot: int,
        training: str,
        on_report: Callable[[WorkerProcess, protocol.Report], None],
        on_death: Callable[[WorkerProcess], None],
    ) -> None:
        self.slot = slot
        self.ready = False
        self.facts: dict[str, Any] = {}
        self.runs: dict[str, QueuedRun] = {}
        self.jobs: dict[str, QueuedJob] = {}
        self.busy_with: str | None = None
        """The id of the run or job that the worker computes now."""
        self.started_at = self.last_report_at = time.monotonic()
        self.memory_when_ready = 0
        """The resident memory in bytes when the worker became ready."""
        self.kill_reason: KillReason | None = None
        """The reason why the pool killed this worker; None when it did not."""
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
        """Queue a command. Never blocks, not even when the worker hangs with a full pipe."""
        self._outbox.put(command)

    @property
    def available(self) -> bool:
        """Whether the worker takes runs and jobs."""
        return self.ready and self.kill_reason is None

    @property
    def held_alone(self) -> bool:
        """Whether a run has this worker to itself."""
        return any(queued.request.alone for queued in self.runs.values())

    @property
    def load(self) -> int:
        """The number of runs on the worker that are not paused."""
        return sum(queued.paused_at is None for queued in self.runs.values())

    @property
    def owns_accelerator(self) -> bool:
        return self.slot < int(self.facts.get("accelerators", 0))

    def kill(self, reason: KillReason) -> None:
        self.kill_reason = self.kill_reason or reason
        self.process.kill()

    def close(self) -> None:
        """Close the worker's stdin, upon which it exits by itself."""
        self._outbox.put(None)

    def join(self, timeout: float) -> None:
        """Wait until the process is gone; after the timeout (s) it is killed. Leaves neither process nor thread behind."""
        self._reader.join(timeout)
        if self._reader.is_alive():
            self.process.kill()
            self._reader.join(timeout)

    def memory(self) -> int:
        """The resident memory in bytes; 0 when the process is gone."""
        try:
            return int(psutil.Process(self.process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def why_it_ended(self, task_id: str) -> str:
        """One sentence for one of the worker's runs or jobs on why the process ended. Call it after the end."""
        code = self.process.returncode
        if self.kill_reason is None:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return f"Its worker process ended unexpectedly ({how})."
        if self.kill_reason.culprit is None:
            return f"Its worker {self.kill_reason.what} and was ended."
        if self.kill_reason.culprit == task_id:
            return f"It {self.kill_reason.what} and was ended."
        return f"Its worker was ended because something else on it {self.kill_reason.what}."

    def ending_of(self, queued: QueuedRun) -> Ended:
        """The ending of one of the worker's runs. Call it after the process has ended."""
        run = queued.run
        if queued.stop_asked_at is not None:
            return Ended(run.step, "stopped", "It was told to stop and did not, so its worker was ended.")
        again = "" if self.kill_reason and self.kill_reason.culprit == run.id else AGAIN
        return Ended(run.step, "lost", self.why_it_ended(run.id) + again)

    def _read(self) -> None:
        stream = cast(BinaryIO, self.process.stdout)
        try:
            while True:
                report = protocol.receive(stream)
                self.last_report_at = time.monotonic()
                self._on_report(self, report)
        except EOFError:
            pass
        except Exception:  # a report that cannot be read or stored: the worker is given up
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
            pass  # the process is gone; the reader notices
        finally:
            with suppress(OSError):
                stream.close()
