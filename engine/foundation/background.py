"""Work in a thread of its own: it can be followed, stopped and waited for, and what ends it is said in one sentence."""

from __future__ import annotations

import sys
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event as Signal
from threading import Thread
from typing import Literal, Self

from engine.foundation.errors import Explained

State = Literal["running", "finished", "stopped", "failed"]


class Work(ABC):
    """What experiments and sweeps have in common. Everything may be read from any thread at any time."""

    def __init__(self, what: str, session: str = "") -> None:
        """``what`` it is, as a sentence names it: "measurement"."""
        self.what, self.session, self.created = what, session, time.time()
        self.state: State = "running"
        self.problem = ""
        """One sentence where it failed."""
        self._stop = Signal()
        self._began = time.monotonic()
        self._ended: float | None = None

    @property
    @abstractmethod
    def done(self) -> float:
        """Share of it, from 0 to 1."""

    @abstractmethod
    def _work(self) -> None:
        """All of it, or as much as there is until ``self._stop`` is set."""

    def start(self, then: Callable[[], object] = lambda: None) -> Self:
        """``then`` is called once it is over, by the same thread; :meth:`wait` waits for that, too."""
        self._thread = Thread(target=self._go, args=(then,), name=self.what, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """End soon; what was measured stays."""
        self._stop.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it is over."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def seconds(self) -> float:
        return (self._ended or time.monotonic()) - self._began

    def _go(self, then: Callable[[], object]) -> None:
        ended: State = "failed"
        try:
            self._work()
            ended = "stopped" if self._stop.is_set() else "finished"
        except Explained as error:
            self.problem = str(error)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.problem = f"The {self.what} ended by an error ({type(error).__name__})."
        self._ended = time.monotonic()
        self.state = ended
        then()
