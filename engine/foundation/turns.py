"""Turns: a few at a time do something, in the order in which they came."""

from __future__ import annotations

from collections import deque
from threading import Event as Signal
from threading import Lock


class Turns:
    """Like a semaphore of ``threading``, but nobody overtakes those who wait in the same line.

    All methods may be called from any thread.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[Signal] = deque()
        self._behind: deque[Signal] = deque()
        self._lock = Lock()

    def take(self, timeout: float, *, behind: bool = False) -> bool:
        """Wait for a turn; False where there was none within ``timeout`` seconds. ``behind``: after all others that wait."""
        line = self._behind if behind else self._waiting
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
            line = self._waiting or self._behind
            if line:
                line.popleft().set()
            else:
                self._free += 1
