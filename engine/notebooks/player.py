"""One visitor's play of one notebook: its process, the checks on it, and the outputs of its cells."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Signal
from threading import RLock, Thread
from typing import IO, Any, Literal, cast

import psutil

from engine.foundation.formatting import in_bytes, in_time
from engine.notebooks import Notebook
from engine.workers.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
"""The folder in which ``python -m engine.notebooks.play`` finds the package."""
TICK = 0.25
"""Seconds between two checks of the process."""
IDLE = 180.0
"""Seconds for which a process that waits for further cells is kept."""
UNSEEN = 180.0
"""Seconds for which a running process is kept while no page shows it."""
MOST_TEXT = 20_000
"""The most characters of a cell's output that are kept, the last ones."""

State = Literal["running", "waiting", "ended"]


@dataclass
class Outcome:
    """The outputs and the state of a cell."""

    state: Literal["running", "passed", "failed", "stopped"] = "running"
    text: str = ""
    figures: list[dict[str, Any]] = field(default_factory=list)
    """Plotly figures as plain data and layout."""
    error: str = ""
    line: int | None = None
    """The line of the error, from 1."""
    seconds: float = 0.0


class Play:
    """A play. All methods may be called from any thread. ``command`` is for tests; by default it plays the notebook."""

    def __init__(
        self, notebook: Notebook, limits: Limits, session: str = "", *, command: Sequence[str] | None = None
    ) -> None:
        self.id = secrets.token_urlsafe(12)
        self.notebook, self.session = notebook, session
        self.outcomes: dict[int, Outcome] = {}
        """The outcomes by the number of the cell."""
        self.state: State = "waiting"
        self.why_ended = ""
        """One sentence, where the play ended other than by its last cell or on request; else empty."""
        self.until = -1
        """The last cell asked for."""
        self._limits = limits
        self._lock = RLock()
        self._over = Signal()
        self._last_cell = max(cell.number for cell in notebook.cells if cell.kind == "code")
        self._asked_at = self._seen_at = self._waiting_since = time.monotonic()
        self._cell_began = 0.0
        self._process = subprocess.Popen(
            command or [sys.executable, "-m", "engine.notebooks.play", notebook.slug],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True, encoding="utf-8", env=os.environ | THREADS,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        Thread(target=self._read, name=f"notebook-{notebook.slug}-reader", daemon=True).start()
        Thread(target=self._watch, name=f"notebook-{notebook.slug}-watch", daemon=True).start()

    def go(self, until: int) -> None:
        """Run the cells that have not been run, up to this number. One that has ended does not hear it."""
        with self._lock:
            if self.state == "ended" or until <= self.until:
                return
            self.until, self.state, self._asked_at = until, "running", time.monotonic()
            self.look()
            with suppress(OSError):  # it is gone; the reader notices
                stdin = cast(IO[str], self._process.stdin)
                stdin.write(f"{until}\n")
                stdin.flush()

    def look(self) -> None:
        """Record that a page shows the play, so that it is kept."""
        self._seen_at = time.monotonic()

    def stop(self, why: str = "") -> None:
        """End the process; the outputs of its cells are kept."""
        with self._lock:
            self.why_ended = self.why_ended or why
            self._end()
        self._process.kill()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the process is gone; False when the time (s) was too short."""
        return self._over.wait(timeout)

    @property
    def waiting_seconds(self) -> float:
        return time.monotonic() - self._waiting_since if self.state == "waiting" else 0.0

    @property
    def running_cell(self) -> int | None:
        return next((number for number, outcome in self.outcomes.items() if outcome.state == "running"), None)

    @property
    def cell_seconds(self) -> float:
        """Seconds since the running cell started; 0 where none is running."""
        return time.monotonic() - self._cell_began if self.running_cell is not None else 0.0

    def _read(self) -> None:
        stream = cast(IO[str], self._process.stdout)
        with suppress(ValueError, OSError):  # the last line of a killed process may be incomplete
            for line in stream:
                with self._lock:
                    if self.state != "ended":
                        self._hear(json.loads(line))
        self._process.kill()
        self._process.wait()
        with self._lock:
            if self.state != "ended":
                code = self._process.returncode
                self.why_ended = (
                    f"Its process ended unexpectedly ({f'signal {-code}' if code < 0 else f'exit code {code}'})."
                )
            self._end()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                cast(IO[str], pipe).close()
        self._over.set()

    def _hear(self, message: dict[str, Any]) -> None:
        if message["event"] == "waiting":
            if message["until"] < self.until:
                return  # it has been told to continue since
            self.state, self._waiting_since = "waiting", time.monotonic()
            if self.until >= self._last_cell:
                self._end()
                self._process.kill()  # it has run every cell and only uses memory
            return
        outcome = self.outcomes.setdefault(message["cell"], Outcome())
        match message["event"]:
            case "started":
                self._cell_began = time.monotonic()
            case "text":
                outcome.text = (outcome.text + message["text"])[-MOST_TEXT:]
            case "figure":
                outcome.figures.append(message["figure"])
            case "passed":
                outcome.state, outcome.seconds = "passed", message["seconds"]
            case "failed":
                outcome.error, outcome.line, outcome.seconds = message["error"], message["line"], message["seconds"]
                outcome.state = "failed"
                self._end()

    def _end(self) -> None:
        for outcome in self.outcomes.values():
            if outcome.state == "running":
                outcome.state, outcome.seconds = "stopped", time.monotonic() - self._cell_began
        self.state = "ended"

    def _watch(self) -> None:
        while not self._over.wait(TICK):
            if self.state != "ended" and (why := self._too_much()):
                self.stop(why)

    def _too_much(self) -> str:
        """The reason to end the process, in one sentence; empty where there is none."""
        now, allowed = time.monotonic(), self._limits
        if self.state == "waiting":
            return f"It waited for {in_time(IDLE)} and was put away." if now - self._waiting_since > IDLE else ""
        if now - self._asked_at > allowed.notebook_seconds:
            return f"It took longer than {in_time(allowed.notebook_seconds)}, which this host allows, and was ended."
        if now - self._seen_at > UNSEEN:
            return f"Nobody looked at it for {in_time(UNSEEN)}, so it was ended."
        if (used := self._memory()) > allowed.notebook_memory:
            return f"It used {in_bytes(used)} of memory, where this host allows {in_bytes(allowed.notebook_memory)}, and was ended."
        return ""

    def _memory(self) -> int:
        """The resident memory in bytes; 0 when the process is gone."""
        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0


THREADS = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""One core for each notebook, to leave cores for others."""
