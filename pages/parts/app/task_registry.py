"""The registry of background tasks by name. It outlives the sessions that start the tasks."""

from __future__ import annotations

import secrets
import sys
from collections import OrderedDict
from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

from engine.foundation.background import BackgroundTask
from engine.workers.errors import Refused

MAX_KEPT = 60
"""The most tasks held in memory before ended ones are dropped, the oldest first; their results are on disk."""

T = TypeVar("T", bound=BackgroundTask)


class TaskRegistry(Generic[T]):
    """The tasks of one kind; a session runs at most one of them at a time. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._by_name: OrderedDict[str, T] = OrderedDict()

    def begin(self, task: T, *, name: str = "", keep: Callable[[str], object] = lambda name: None) -> str:
        """Start a task and return its name, by default an unguessable one. ``keep`` is called with the name at the end.

        If a task of the given name is running already, no second one is started. Raises Refused where the session has
        another running task.
        """
        with self._lock:
            if name and (known := self._by_name.get(name)) is not None and known.state == "running":
                return name
            if (running := self.running_of(task.session)) is not None:
                what = self._by_name[running].what
                raise Refused(f"Your {what} is still going. Stop it, or wait until it has ended.")
            name = name or secrets.token_urlsafe(12)
            self._by_name[name] = task.start(lambda: _keep(task, name, keep))
            self._by_name.move_to_end(name)
            ended = [name for name, other in self._by_name.items() if other.state != "running"]
            for old in ended[: max(0, len(self._by_name) - MAX_KEPT)]:
                del self._by_name[old]
        return name

    def find(self, name: str) -> T | None:
        with self._lock:
            return self._by_name.get(name)

    def running_of(self, session: str) -> str | None:
        """The name of the session's running task."""
        with self._lock:
            running = (n for n, task in self._by_name.items() if task.session == session and task.state == "running")
            return next(running, None)


def _keep(task: BackgroundTask, name: str, keep: Callable[[str], object]) -> None:
    try:
        keep(name)
    except OSError as error:
        print(f"What the {task.what} found could not be kept: {error}", file=sys.stderr)
