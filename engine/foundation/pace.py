"""A pace for each visitor: a budget that fills again with time; who has spent more waits until it is no longer overdrawn."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

MOST = 10_000
"""The number of visitors above which those whose budget is full are forgotten."""


class Pace:
    """Budgets by visitor's id. All methods may be called from any thread."""

    def __init__(self, rate: float, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        """``rate``: what a budget gains in a second; ``most``: what it holds when it is full."""
        self._rate, self._most, self._clock = rate, most, clock
        self._full_at: dict[str, float] = {}  # the time at which each budget will be full again
        self._lock = Lock()

    def spend(self, visitor: str, amount: float) -> float:
        """Take from the visitor's budget; returns the seconds to wait until it is no longer overdrawn."""
        with self._lock:
            now = self._clock()
            if len(self._full_at) > MOST:
                self._full_at = {other: full for other, full in self._full_at.items() if full > now}
            self._full_at[visitor] = max(self._full_at.get(visitor, now), now) + amount / self._rate
        return self.wait(visitor)

    def wait(self, visitor: str) -> float:
        """Seconds until the visitor's budget is no longer overdrawn; 0 where it is not."""
        with self._lock:
            missing = self._full_at.get(visitor, 0.0) - self._clock() - self._most / self._rate
        return max(0.0, missing)
