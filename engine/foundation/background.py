import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event as Signal
from threading import Thread
from typing import Literal, Self

from engine.foundation.errors import Explained
from engine.foundation.log import log_error
from engine.foundation.visitor import PROGRAM, Visitor

TaskState = Literal["running", "finished", "stopped", "failed"]


class BackgroundTask(ABC):
    """The base of experiments and sweeps. All attributes and methods may be used from any thread."""

    def __init__(self, noun: str, visitor: Visitor = PROGRAM) -> None:
        """``noun``: the name of the task in a sentence, such as "measurement"."""
        self.noun, self.visitor, self.created = noun, visitor, time.time()
        self.state: TaskState = "running"
        self.problem = ""  # one sentence if the task failed
        self.unsaved = ""  # one sentence if the result could not be stored
        self._stop = Signal()
        self._began = time.monotonic()
        self._end_time: float | None = None

    @property
    @abstractmethod
    def share_done(self) -> float:
        """A share from 0 to 1."""

    @abstractmethod
    def _work(self) -> None:
        """Return early when ``self._stop`` is set."""

    def start(self, then: Callable[[], object] = lambda: None) -> Self:
        """Start the thread. At its end it calls ``then``; :meth:`wait` waits for that call, too."""
        self._thread = Thread(target=self._go, args=(then,), name=self.noun, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        # the task ends soon and keeps its results so far
        self._stop.set()

    def wait(self, timeout: float | None = None) -> bool:
        self._thread.join(timeout)
        return not self._thread.is_alive()

    @property
    def seconds(self) -> float:
        return (self._end_time or time.monotonic()) - self._began

    def _go(self, then: Callable[[], object]) -> None:
        end_state: TaskState = "failed"
        try:
            self._work()
            end_state = "stopped" if self._stop.is_set() else "finished"
        except Explained as error:
            self.problem = str(error)
        except Exception as error:
            # the words after it may be a reader's, which the log never names
            log_error(f"The {self.noun}".partition(" on “")[0], error)
            self.problem = f"The {self.noun} ended by an error ({type(error).__name__})."
        self._end_time = time.monotonic()
        self.state = end_state
        then()
