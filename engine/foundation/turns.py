"""Turns: a few at a time do something, in the order in which they came."""

from __future__ import annotations

from collections import deque
from threading import Event as Signal
from threading import Lock


class Turns:
    """Like a semaphore of ``threading``, but nobody overtakes those who wait. All methods may be called from any thread."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[Signal] = deque()
        self._lock = Lock()

    def take(self, timeout: float) -> bool:
        """Wait for a turn; False where there was none within ``timeout`` seconds."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            called = Signal()
            self._waiting.append(called)
        if called.wait(timeout):
            return True
        with self._lock:
            if called.is_set():  # just now
                return True
            self._waiting.remove(called)
            return False

    def end(self) -> None:
        """End a turn that was taken: the next one begins."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1
