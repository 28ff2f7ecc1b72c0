"""The supervisor of the worker processes: starts those that are wanted, kills those that hang or grow too large, replaces those
that died, and ends those that are wanted no more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from threading import Event as Signal
from threading import RLock, Thread

from engine.foundation.log import LOG, log_error
from engine.workers import protocol
from engine.workers.limits import Limits
from engine.workers.machines import HERE, Machines
from engine.workers.placement import memory_for
from engine.workers.post import Post
from engine.workers.process import WorkerProcess
from engine.workers.supervision import kill_oversized, kill_unresponsive, stop_left_paused

TICK = 0.1
"""Seconds between two rounds of checks."""
MEMORY_EVERY = 1.0
TIDY_EVERY = 600.0
ASLEEP = 5.0
"""Seconds by which a round of checks must be late to conclude that the computer was suspended, not the workers."""
LAST_WORDS = 2.0
"""Seconds that all workers together have to end by themselves when the pool is closed; then they are killed."""
LONGEST_BACKOFF = 30.0
FAILING_AFTER = 3
"""The number of failed starts in a row from which the supervisor reports that workers cannot be started."""


class Supervisor:
    """The worker processes, one for each post that ``wanted`` names, and one thread that checks them.

    ``wanted`` is called with the time (``time.monotonic``) and under the lock. ``on_report`` is called on the worker's reader
    thread, ``tidy`` now and then and ``on_round`` in every round, with the time, on the supervisor's own thread; these without
    the lock. ``lock`` guards the workers and the tasks that each computes.

    ``on_death`` is called on the reader thread of a worker that is gone, under the lock under which the worker leaves
    :attr:`workers`: whoever holds the lock finds a run on a worker or where it was moved. It returns what is left to do without
    the lock.
    """

    def __init__(
        self,
        training: str,
        limits: Limits,
        machines: Machines,
        lock: RLock,
        *,
        wanted: Callable[[float], Iterable[Post]],
        on_report: Callable[[WorkerProcess, protocol.Report], None],
        on_death: Callable[[WorkerProcess], Callable[[], None]],
        tidy: Callable[[], None],
        on_round: Callable[[float], None],
    ) -> None:
        self.closing = Signal()
        self._training, self._limits, self._machines, self._lock = training, limits, machines, lock
        self._wanted, self._on_report, self._on_death = wanted, on_report, on_death
        self._tidy, self._on_round = tidy, on_round
        self._workers: dict[Post, WorkerProcess] = {}
        self._failed_starts = 0
        self._start_after = 0.0
        self._thread = Thread(target=self._supervise, name="pool-supervisor", daemon=True)

    @property
    def workers(self) -> list[WorkerProcess]:
        """The workers that are up or starting."""
        return list(self._workers.values())

    @property
    def failing(self) -> bool:
        """Whether workers cannot be started."""
        return self._failed_starts >= FAILING_AFTER

    def start(self) -> bool:
        """Start one worker after another, so that the first is ready soon. False if already started or closed."""
        with self._lock:
            if self._thread.ident or self.closing.is_set():
                return False
            self._thread.start()
        self._machines.start(self.fill_posts)
        return True

    def close(self) -> None:
        """End every worker and wait for it."""
        self.closing.set()
        if self._thread.ident:
            self._thread.join()
        with self._lock:
            workers = self.workers
        for worker in workers:
            worker.process.close()
        deadline = time.monotonic() + LAST_WORDS
        for worker in workers:
            if not worker.process.wait(max(0.0, deadline - time.monotonic())):
                worker.process.kill()
        for worker in workers:
            worker.process.wait(LAST_WORDS)
        self._machines.close()

    def take_ready(self, worker: WorkerProcess, facts: protocol.DeviceFacts) -> None:
        """Record that a worker has become ready, and start the next one."""
        with self._lock:
            worker.ready, worker.facts, worker.memory_when_ready = True, facts, worker.process.memory()
            worker.idle_since = time.monotonic()
            self._failed_starts = 0
            self.fill_posts()

    def _died(self, worker: WorkerProcess) -> None:
        if not (self.closing.is_set() or worker.retired):
            LOG.warning("%s (process %d) ended: %s.", worker.post, worker.process.pid, worker.process.how_it_ended())
        with self._lock:
            if self._workers.get(worker.post) is worker:
                del self._workers[worker.post]
            if not (worker.ready or worker.retired) and worker.post.machine == HERE:
                self._back_off()
            finish = self._on_death(worker)
        finish()
        self.fill_posts()

    def _supervise(self) -> None:
        last_round = last_measured = time.monotonic()
        last_tidied = -math.inf
        while not self.closing.wait(TICK):
            now = time.monotonic()
            try:
                with self._lock:
                    workers = self.workers
                    if now - last_round > ASLEEP:  # this process was suspended, not the workers
                        for worker in workers:
                            worker.process.last_message_at = now
                    kill_unresponsive(workers, self._limits, now)
                    stop_left_paused(workers, self._limits, now)
                    self.fill_posts()
                    if now - last_measured > MEMORY_EVERY:
                        last_measured = now
                        kill_oversized(workers)
                self._on_round(now)
                if now - last_tidied > TIDY_EVERY:
                    last_tidied = now
                    self._tidy()
            except Exception as error:  # supervision goes on
                log_error("Supervision", error)
            last_round = now

    def fill_posts(self) -> None:
        """End the processes that are wanted no more, and start a missing one of each role.

        One start at a time in each role on a machine leaves cores for the page.
        """
        with self._lock:
            now = time.monotonic()
            if self.closing.is_set() or not self._thread.ident:
                return
            wanted = list(self._wanted(now))
            for worker in self.workers:
                if worker.post not in wanted and not worker.retired and not worker.runs and worker.job is None:
                    worker.retire()
            for post in wanted:
                alike = [
                    other
                    for other in self.workers
                    if (other.post.role, other.post.machine) == (post.role, post.machine)
                ]
                starting = any(not other.ready for other in alike)
                if post not in self._workers and not starting and now >= self._start_after:
                    self._start_process(post)

    def _start_process(self, post: Post) -> None:
        machine = self._machines.find(post.machine)
        if machine is None:  # it has just left
            return
        try:
            allowed = memory_for(post, machine, self._limits)
            worker = WorkerProcess(post, machine, self._training, allowed, self._on_report, self._died)
            self._workers[post] = worker
            worker.process.begin()
        except OSError as error:
            log_error("A worker cannot be started", error)
            self._back_off()

    def _back_off(self) -> None:
        """Retry a failed start after a pause that doubles each time."""
        self._failed_starts += 1
        self._start_after = time.monotonic() + min(LONGEST_BACKOFF, 0.25 * 2**self._failed_starts)
