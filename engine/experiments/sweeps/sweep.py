"""Running a sweep on the worker pool: point after point, each a job on a process that does nothing else meanwhile.

The first round measures every kind along the axis, the short points first, each only after the guard has checked the earlier ones.
Further rounds repeat all points in shuffled order, so that other load on the machine affects all kinds alike.
"""

import random
import time
from collections import Counter
from dataclasses import replace
from threading import Lock

import psutil

from engine.experiments.sweeps.guard import (
    FIRST_VISIT_STEPS,
    FURTHER_VISIT_STEPS,
    MIN_VISIT_SECONDS,
    needed_seconds,
    reason_not_to,
    refusal,
)
from engine.experiments.sweeps.jobs import DescribeMachine, MeasureCost
from engine.experiments.sweeps.plan import Plan
from engine.experiments.sweeps.result import Result, Skip, Visit
from engine.foundation.background import BackgroundTask
from engine.foundation.errors import JobError, Refused
from engine.foundation.provenance import provenance
from engine.foundation.visitor import PROGRAM, Visitor
from engine.serving.pool import Pool
from engine.serving.processes.machines import APP_MACHINE

CLOCK = Lock()  # held for one point: two sweeps alternate, so that neither slows the other's point
GAP = 0.005  # seconds between two points, in which another sweep or a short job gets its turn


class Sweep(BackgroundTask):
    """Every kind at every length or depth, as far as the guard allows; a stop waits for the end of the current point."""

    def __init__(self, plan: Plan, pool: Pool, *, visitor: Visitor = PROGRAM) -> None:
        """Raises Refused if the plan could take longer than the pool's host allows."""
        if sentence := refusal(plan, pool.limits):
            raise Refused(sentence)
        super().__init__("measurement", visitor)
        self.plan = plan
        self.now: tuple[str, int] | None = None  # the kind and the length or depth that is measured now
        self._pool = pool
        self._on = APP_MACHINE
        # Only the task's own thread replaces it.
        self._result = Result(plan, None, (), (), self.state, 0.0, self.created, provenance())
        self._order = random.Random(0)

    @property
    def result(self) -> Result:
        return replace(self._result, state=self.state, seconds=self.seconds)

    @property
    def seconds_left(self) -> float:
        """The predicted seconds left, from the visits so far. A point counts until the guard has rejected it."""
        n_visits = Counter((visit.kind, visit.tick) for visit in self._result.visits)
        return sum(
            self._expected(kind, tick) * (self.plan.rounds - n_visits[kind, tick])
            for kind in self.plan.kinds
            for tick in self.plan.ticks
            if (kind, tick) in n_visits or not self._is_skipped(kind)
        )

    @property
    def share_done(self) -> float:
        """The share of the time that is done, from 0 to 1, without the time spent waiting for a worker."""
        if self.state != "running":
            return 1.0
        spent = sum(visit.took for visit in self._result.visits)
        return spent / (spent + self.seconds_left) if spent else 0.0

    def _work(self) -> None:
        try:
            self._on = self._pool.machines.measuring
            machine = self._pool.ask(DescribeMachine(self.plan.device), timeout=120.0)
            self._result = replace(self._result, machine=machine)
            self._measure_along_the_axis()
            for further in range(1, self.plan.rounds):
                self._repeat(further)
        finally:
            self.now = None

    def _measure_along_the_axis(self) -> None:
        for tick in self.plan.ticks:
            kinds = [kind for kind in self.plan.kinds if not self._is_skipped(kind)]
            for kind in self._order.sample(kinds, len(kinds)):
                if self._stop.is_set():
                    return
                why = reason_not_to(self.plan, kind, tick, self._result.counted_visits(kind), self._free_bytes())
                if why is None:
                    self._measure(kind, tick, 0)
                else:
                    self._skip(kind, tick, f"{why[0].upper()}{why[1:]}.")

    def _repeat(self, round: int) -> None:
        points = [(visit.kind, visit.tick) for visit in self._result.visits if visit.round == 0]
        for kind, tick in self._order.sample(points, len(points)):
            if self._stop.is_set():
                return
            self._measure(kind, tick, round)

    def _measure(self, kind: str, tick: int, round: int) -> None:
        config, length = self.plan.config(kind, tick), self.plan.length_at(tick)
        try:
            with CLOCK:
                if self._pool.machines.measuring != self._on:
                    raise Refused("The machine on which this was measured has left the cluster; please measure again.")
                self.now = (kind, tick)
                began = time.monotonic()
                job = MeasureCost(config, length, self.plan.device, memory=round == 0)
                cost = self._pool.ask(job, alone=True, timeout=60.0 + 40 * self.plan.patience)
        except JobError as error:  # the guard was too optimistic: the worker is replaced, the other kinds continue
            self._skip(kind, tick, str(error))
            return
        visit = Visit(**vars(cost), kind=kind, tick=tick, round=round, took=time.monotonic() - began)
        self._result = replace(self._result, visits=(*self._result.visits, visit))
        time.sleep(GAP)

    def _free_bytes(self) -> int:
        """Bytes available to a point: free, and at most the host's limit for a step or a worker."""
        limits = self._pool.limits
        machine = self._result.machine
        if machine is not None and machine.kind == "cuda":
            return min(machine.free, int(limits.memory))
        elsewhere = machine if self._on != APP_MACHINE else None
        free = elsewhere.free if elsewhere else int(psutil.virtual_memory().available)
        return min(free, int(limits.memory), int(limits.worker_memory))

    def _skip(self, kind: str, tick: int, why: str) -> None:
        self._result = replace(self._result, skips=(*self._result.skips, Skip(kind, tick, why)))

    def _is_skipped(self, kind: str) -> bool:
        return any(skip.kind == kind for skip in self._result.skips)

    def _expected(self, kind: str, tick: int) -> float:
        """The predicted seconds of a visit; 0 if the guard will reject it."""
        before = self._result.counted_visits(kind)
        if not before:
            return MIN_VISIT_SECONDS
        known = next((visit.train for visit in before if visit.tick == tick), None)
        step = needed_seconds(self.plan, kind, tick, before) if known is None else known
        if step > self.plan.patience and known is None:
            return 0.0
        return max(MIN_VISIT_SECONDS, (FURTHER_VISIT_STEPS if known else FIRST_VISIT_STEPS) * step)
