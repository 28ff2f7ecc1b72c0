"""One visitor's play of one notebook: its process, the checks on it, and the outputs of its cells."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import RLock, Thread
from typing import Any, Literal

from engine.foundation.child import ChildProcess
from engine.foundation.formatting import in_bytes, in_time
from engine.foundation.messages import receive, send
from engine.hosting.limits import Limits
from engine.notebooks import Notebook

TICK = 0.25
"""Seconds between two checks of the process."""
IDLE = 180.0
"""Seconds for which a process that waits for further cells is kept."""
UNSEEN = 180.0
"""Seconds for which a running process is kept while no page shows it."""
MOST_TEXT = 20_000
"""The most characters of a cell's output that are kept, the last ones."""

PlayerState = Literal["running", "waiting", "ended"]


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
    """A play. All methods may be called from any thread. ``command`` gives Python other arguments, for tests; by default it plays
    the notebook."""

    def __init__(
        self,
        notebook: Notebook,
        limits: Limits,
        owner: str = "",
        *,
        then: Callable[[], object] = lambda: None,
        command: Sequence[str] | None = None,
    ) -> None:
        """``then`` is called when the play has ended, maybe more than once."""
        self.id = secrets.token_urlsafe(12)
        self.notebook, self.owner = notebook, owner
        self.outcomes: dict[int, Outcome] = {}
        """The outcomes by the number of the cell."""
        self.state: PlayerState = "waiting"
        self.why_ended = ""
        """One sentence, where the play ended other than by its last cell or on request; else empty."""
        self.until = -1
        """The last cell asked for."""
        self._limits, self._then = limits, then
        self._lock = RLock()
        self._last_cell = max(cell.number for cell in notebook.cells if cell.kind == "code")
        self._asked_at = self._seen_at = self._waiting_since = time.monotonic()
        self._cell_began = 0.0
        self._process: ChildProcess[int, dict[str, Any]] = ChildProcess(
            f"notebook-{notebook.slug}",
            command or ["-m", "engine.notebooks.play", notebook.slug],
            write=send,
            read=receive,
            on_message=self._take_event,
            on_end=self._ended,
        )
        self._process.begin()
        Thread(target=self._supervise, name=f"notebook-{notebook.slug}-supervisor", daemon=True).start()

    def go(self, until: int) -> None:
        """Run the cells that have not been run, up to this number. A play that has ended does nothing."""
        with self._lock:
            if self.state == "ended" or until <= self.until:
                return
            self.until, self.state, self._asked_at = until, "running", time.monotonic()
            self.look()
            self._process.send(until)

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
        return self._process.wait(timeout)

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

    def _ended(self) -> None:
        """Record the end of the process."""
        with self._lock:
            if self.state != "ended":
                self.why_ended = f"Its process ended unexpectedly ({self._process.how_it_ended()})."
            self._end()

    def _take_event(self, event: dict[str, Any]) -> None:
        """Handle an event of the process, until the play has ended."""
        with self._lock:
            if self.state == "ended":
                return
            if event["event"] == "waiting":
                self._take_waiting(event["until"])
            else:
                self._take_outcome(event)

    def _take_waiting(self, until: int) -> None:
        if until < self.until:
            return  # it has been told to continue since
        self.state, self._waiting_since = "waiting", time.monotonic()
        if self.until >= self._last_cell:
            self._end()
            self._process.kill()  # it has run every cell and only uses memory

    def _take_outcome(self, message: dict[str, Any]) -> None:
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
        self._then()

    def _supervise(self) -> None:
        while not self._process.wait(TICK):
            if self.state != "ended" and (why := self._too_much()):
                self.stop(why)

    def _too_much(self) -> str:
        """The reason to end the process, in one sentence; empty where there is none."""
        now, allowed = time.monotonic(), self._limits
        if self.state == "waiting":
            return f"It waited for {in_time(IDLE)} and was closed." if now - self._waiting_since > IDLE else ""
        if now - self._asked_at > allowed.notebook_seconds:
            return f"It took longer than {in_time(allowed.notebook_seconds)}, which this host allows, and was ended."
        if now - self._seen_at > UNSEEN:
            return f"Nobody looked at it for {in_time(UNSEEN)}, so it was ended."
        if (used := self._process.memory()) > allowed.notebook_memory:
            return f"It used {in_bytes(used)} of memory, where this host allows {in_bytes(allowed.notebook_memory)}, and was ended."
        return ""
