"""Work that this server process does or did, by name: what sessions come and go over."""

from __future__ import annotations

import secrets
import sys
from collections import OrderedDict
from collections.abc import Callable
from threading import RLock
from typing import Generic, TypeVar

from engine.foundation.background import Work
from engine.workers.pool import Refused

KEPT = 60
"""Ended works that are held, the newest; what they found is on disk."""

W = TypeVar("W", bound=Work)


class Going(Generic[W]):
    """One kind of work, one of a session at a time. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._by_name: OrderedDict[str, W] = OrderedDict()

    def begin(self, work: W, *, name: str = "", keep: Callable[[str], object] = lambda name: None) -> str:
        """Start a work; its name, an unguessable one where none is given. ``keep`` is told that name once the work is over.

        A work that goes under the given name already is not started twice: whoever asked looks at that one. Raises Refused
        where the session has another one going.
        """
        with self._lock:
            if name and (known := self._by_name.get(name)) is not None and known.state == "running":
                return name
            if (going := self.running_of(work.session)) is not None:
                what = self._by_name[going].what
                raise Refused(f"Your {what} is still going. Stop it, or wait until it has ended.")
            name = name or secrets.token_urlsafe(12)
            self._by_name[name] = work.start(lambda: _keep(work, name, keep))
            self._by_name.move_to_end(name)
            ended = [name for name, other in self._by_name.items() if other.state != "running"]
            for old in ended[: max(0, len(self._by_name) - KEPT)]:
                del self._by_name[old]
        return name

    def find(self, name: str) -> W | None:
        with self._lock:
            return self._by_name.get(name)

    def running_of(self, session: str) -> str | None:
        """The name of the session's work that goes now."""
        with self._lock:
            running = (n for n, work in self._by_name.items() if work.session == session and work.state == "running")
            return next(running, None)


def _keep(work: Work, name: str, keep: Callable[[str], object]) -> None:
    try:
        keep(name)
    except OSError as error:
        print(f"What the {work.what} found could not be kept: {error}", file=sys.stderr)
