"""The scheduler of a worker: its runs take turns in short slices, each at its own pace, and all get the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from engine.workers.training.live_run import SLICE, LiveRun

ROUND = 0.25
"""Seconds within which every run has its turn; with many runs the slices get shorter."""


class FairShare:
    """The runs of one worker, of which the one that has used the least time is next. Where a step takes longer than a slice, its
    run so has fewer turns. (Start-time fair queueing: Goyal, Vin and Cheng, 1996, section 2.)"""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._runs: list[LiveRun] = []
        self._clock = clock
        self._least = 0.0
        """The time that the run of the last turn had used before it: a run that comes, or that has waited, begins with so much,
        and has nothing to make up for."""

    def __iter__(self) -> Iterator[LiveRun]:
        return iter(self._runs)

    def add(self, run: LiveRun) -> None:
        # In front: of those that have used as little, the last one that came is next.
        self._runs.insert(0, run)

    def remove(self, run: LiveRun) -> None:
        self._runs.remove(run)

    def find(self, run_id: str) -> LiveRun | None:
        return next((run for run in self._runs if run.run_id == run_id), None)

    def next(self) -> LiveRun | None:
        """The run whose turn it is, or None while every run waits for its pace or is paused."""
        now = self._clock()
        due = [run for run in self._moving() if run.due <= now]
        if not due:
            return None
        run = min(due, key=lambda run: max(run.used, self._least))
        run.used = self._least = max(run.used, self._least)
        self._runs.remove(run)
        self._runs.append(run)
        return run

    def slice(self) -> float:
        """The seconds of one turn with the present number of runs."""
        return min(SLICE, ROUND / max(1, len(self._moving())))

    def seconds_to_next(self) -> float | None:
        """Seconds until there is something to do; None when only a command can change that."""
        moments = [run.due for run in self._moving()]
        moments += [run.delivery_due for run in self._runs if run.unsent]
        return max(0.0, min(moments) - self._clock()) if moments else None

    def _moving(self) -> list[LiveRun]:
        moving = [run for run in self._runs if not run.waiting]
        alone = [run for run in moving if run.request.alone]
        # A run goes first until its first point: somebody has just pressed Train. New ones wait for each other in their
        # order; those begun stand at the end, behind those added later.
        new = [run for run in moving if run.is_new]
        return alone[:1] or new[-1:] or moving
