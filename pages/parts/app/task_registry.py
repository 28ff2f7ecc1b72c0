"""A registry of background tasks by name, which outlives the sessions that start them."""

import secrets
from collections import OrderedDict
from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

from engine.foundation.background import BackgroundTask
from engine.foundation.errors import Refused
from engine.foundation.log import log_unsaved
from engine.foundation.visitor import Visitor
from engine.serving.allowances import Allowances, Release, WorkKind
from pages.parts.app import server

MAX_TASKS = 60  # above it, ended tasks are dropped, the oldest first; their results are on disk
NOT_YOURS = "Somebody else started this. Start your own."

T = TypeVar("T", bound=BackgroundTask)


class TaskRegistry(Generic[T]):
    """The tasks of one kind. All methods may be called from any thread.

    A task belongs to the visitors who asked for it: several for a task with a given name, which they all ask for. It
    stops when the last of them leaves.
    """

    def __init__(self, kind: WorkKind, allowances: Callable[[], Allowances] = lambda: server.pool().allowances) -> None:
        self._kind, self._allowances = kind, allowances
        self._lock = RLock()
        self._by_name: OrderedDict[str, T] = OrderedDict()
        self._owners: dict[str, dict[str, Release]] = {}  # of the running tasks, by the visitor's id

    def begin(self, task: T, *, name: str = "", keep: Callable[[str], object] = lambda name: None) -> str:
        """Start a task for its visitor and return its name, by default an unguessable one. ``keep`` is called with the
        name at the end.

        If a task of that name is running, the visitor becomes one more owner instead. Raises NoRoom above the visitor's
        limit, Refused where the system gives no thread.
        """
        with self._lock:
            name = name or secrets.token_urlsafe(12)
            if task.visitor.id not in self._owners.get(name, {}):
                release = self._allowances().take(self._kind, task.visitor)
                self._owners.setdefault(name, {})[task.visitor.id] = release
            existing = self._by_name.get(name)
            if existing is not None and existing.state == "running":
                return name
            try:
                self._by_name[name] = task.start(lambda: self._end(task, name, keep))
            except RuntimeError as error:  # the system gives no more threads
                self._release(name)
                raise Refused(f"It cannot be started now: {error}.") from error
            self._by_name.move_to_end(name)
            inactive = [name for name, other in self._by_name.items() if other.state != "running"]
            for old in inactive[: max(0, len(self._by_name) - MAX_TASKS)]:
                del self._by_name[old]
        return name

    def leave(self, name: str, visitor: Visitor) -> None:
        """Remove the visitor from the task's owners; the last one who leaves stops it. Does nothing for a task without
        owners, as when a button is pressed twice. Raises Refused for others."""
        with self._lock:
            owners = self._owners.get(name)
            if not owners:
                return
            if not self.owned(name, visitor):
                raise Refused(NOT_YOURS)
            if (release := owners.pop(visitor.id, None)) is not None:
                release()
            if not owners or not visitor.id:
                self._by_name[name].stop()

    def owned(self, name: str, visitor: Visitor) -> bool:
        """Return whether the visitor asked for this task, or is the program itself."""
        with self._lock:
            return not visitor.id or visitor.id in self._owners.get(name, {})

    def find(self, name: str) -> T | None:
        with self._lock:
            return self._by_name.get(name)

    def running_of(self, visitor: Visitor, like: Callable[[T], bool] = lambda task: True) -> str:
        """Return the name of the visitor's first running task for which ``like`` is true; empty for none."""
        with self._lock:
            tasks = [(name, self._by_name[name]) for name, owners in self._owners.items() if visitor.id in owners]
            return next((name for name, task in tasks if task.state == "running" and like(task)), "")

    def _end(self, task: BackgroundTask, name: str, keep: Callable[[str], object]) -> None:
        try:
            keep(name)
        except OSError as error:
            log_unsaved("The result of %s cannot be saved", f"{self._kind} {name}", error)
            task.unsaved = f"The {self._kind} is over, and its result cannot be saved: {error.strerror or error}."
        finally:
            with self._lock:
                if self._by_name.get(name) is task:  # else its owners asked for it again meanwhile
                    self._release(name)

    def _release(self, name: str) -> None:
        for release in self._owners.pop(name, {}).values():
            release()
