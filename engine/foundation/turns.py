"""Turns: a few at a time do something; those who wait are called one by one, in the order of coming."""

from __future__ import annotations

from collections import deque
from threading import Event as Signal
from threading import Lock


class Turns:
    """Like a semaphore of ``threading``, but those who wait are called in the order of coming, and some after all others.

    All methods may be called from any thread.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._first, self._behind = deque[Signal](), deque[Signal]()
        self._lock = Lock()

    def take(self, timeout: float, *, behind: bool = False) -> bool:
        """Wait for a turn; False where there was none within ``timeout`` seconds. ``behind``: after all others that wait."""
        line = self._behind if behind else self._first
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            called = Signal()
            line.append(called)
        if called.wait(timeout):
            return True
        with self._lock:
            if called.is_set():  # just now
                return True
            line.remove(called)
            return False

    def end(self) -> None:
        """End a turn that was taken: the next one begins."""
        with self._lock:
            line = self._first or self._behind
            if line:
                line.popleft().set()
            else:
                self._free += 1
