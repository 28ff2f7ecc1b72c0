"""Turns: a few at a time do something; those who wait are called one by one, each person in turn."""

from __future__ import annotations

from collections import deque
from threading import Event as Signal
from threading import Lock


class Turns:
    """Like a semaphore of ``threading``, but fair: whoever waits several times at once is called as often as everybody else.

    All methods may be called from any thread.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        # In each line: who waits, in the order in which they are called, and each one's signals in the order of coming.
        self._first: dict[str, deque[Signal]] = {}
        self._behind: dict[str, deque[Signal]] = {}
        self._lock = Lock()

    def take(self, timeout: float, whose: str, *, behind: bool = False) -> bool:
        """Wait for a turn; False where there was none within ``timeout`` seconds. ``whose``: the id of the person who waits.
        ``behind``: after all others that wait."""
        line = self._behind if behind else self._first
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            called = Signal()
            line.setdefault(whose, deque()).append(called)
        if called.wait(timeout):
            return True
        with self._lock:
            if called.is_set():  # just now
                return True
            line[whose].remove(called)
            if not line[whose]:
                del line[whose]
            return False

    def end(self) -> None:
        """End a turn that was taken: the next one begins."""
        with self._lock:
            line = self._first or self._behind
            if not line:
                self._free += 1
                return
            whose = next(iter(line))
            waiting = line.pop(whose)
            waiting.popleft().set()
            if waiting:
                line[whose] = waiting  # behind the others
