"""The questions: jobs that are asked of the job processes, from the call of ``ask`` to the answer.

Job processes never train a run, so that neither waits for the other, and a job that takes too long costs nobody a run. A process
has one job at a time, and visitors take turns, as do network addresses. Equal jobs that wait or are computed are one job with
several callers.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Any, cast

from engine.foundation.formatting import in_time
from engine.foundation.job import Answer, Job
from engine.foundation.visitor import Pace, Visitor
from engine.workers import protocol
from engine.workers.errors import JobError
from engine.workers.processes.machines import HERE
from engine.workers.processes.process import KillReason, Post, WorkerProcess
from engine.workers.processes.supervisor import Supervisor
from engine.workers.runs.queued import QueuedJob

FIRST_START = 120.0
"""Seconds by which a question may last longer while no process of this program was ready yet: the first one waits for imports."""
SHARE, AT_ONCE = 0.25, 5.0
"""Seconds of jobs that a visitor has in each second, and at once, while others train: jobs go before training."""
LARGEST = 2**20
"""The most bytes of a pickled question."""


class Questions:
    """The jobs that wait for a process, each visitor's in their order, and those on a process."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor, self._lock = supervisor, supervisor.lock
        self._waiting: dict[str, deque[QueuedJob]] = {}  # by the visitor's id, in the order of their turns
        self._pace = Pace(rate=SHARE, most=AT_ONCE)
        self._closed = ""

    def ask(self, job: Job[Answer], visitor: Visitor, *, alone: bool, timeout: float) -> Answer:
        """The answer to a job; blocks. What this program's first process needs for its imports takes nothing of ``timeout`` (s).
        Raises JobError with one sentence."""
        if len(protocol.write_value(job)) > LARGEST:
            raise JobError(f"The question is longer than {LARGEST // 2**20} MiB.")
        with self._lock:
            if self._closed:
                raise JobError(self._closed)
            queued = self._join(job, visitor, alone)
            warm = any(worker.ready for worker in self._supervisor.workers)
            self.dispatch()
        if not queued.done.wait(timeout if warm else timeout + FIRST_START):
            with self._lock:
                self._leave(queued)
            raise JobError(f"{job.noun} took longer than {in_time(timeout)}.")
        if queued.error:
            raise JobError(queued.error)
        try:
            return cast(Answer, protocol.read_value(queued.value))
        except TypeError as error:
            raise JobError(f"{job.noun} failed: {error}") from error

    def dispatch(self) -> None:
        """Give waiting jobs to free processes, one of each visitor in turn. Who has had a large share of the time lately waits
        while others train."""
        with self._lock:
            for visitor in list(self._waiting):
                jobs = self._waiting[visitor]
                held_back = visitor and self._pace.wait(visitor) and self._others_train(visitor)
                worker = None if held_back else self._process_for(jobs[0])
                if worker is None:
                    continue
                worker.job = jobs.popleft()
                worker.send(worker.job.ask)
                if not jobs:
                    del self._waiting[visitor]
                self._put_behind(worker.job.visitor)

    def _put_behind(self, served: Visitor) -> None:
        """Put the jobs of a visitor behind those of all others, and those of others at its network address nearly as far, so that who
        throws cookies away has one turn for all."""

        def turn(item: tuple[str, deque[QueuedJob]]) -> tuple[bool, bool]:
            visitor = item[1][0].visitor
            return bool(served.address) and visitor.address == served.address, visitor.id == served.id

        self._waiting = dict(sorted(self._waiting.items(), key=turn))

    def take_answer(self, worker: WorkerProcess, answer: protocol.Answer) -> None:
        with self._lock:
            queued, worker.job, worker.idle_since = worker.job, None, time.monotonic()
            worker.end_task(answer.job_id)
            if queued is not None and queued.begun_at is not None:
                self._pace.spend(queued.visitor.id, worker.idle_since - queued.begun_at)
            self.dispatch()
        if queued is not None:
            queued.finish(answer)

    def end_job_of(self, worker: WorkerProcess) -> None:
        """The process is gone. A job that it had not begun waits again, once where the process was ready; the job that it computed has
        failed."""
        with self._lock:
            queued, worker.job = worker.job, None
            if queued is None:
                return
            may_wait = queued.callers > 0 and queued.begun_at is None and not self._closed
            if may_wait and not (worker.ready and queued.asked_again):
                queued.asked_again = queued.asked_again or worker.ready
                self._waiting.setdefault(queued.visitor.id, deque()).appendleft(queued)
                return
        queued.fail(worker.why_it_ended(queued.ask.job_id))

    def close(self, sentence: str) -> None:
        """Fail every job; those asked from now on fail, too."""
        with self._lock:
            self._closed = sentence
            for queued in self._going():
                queued.fail(sentence)
            self._waiting.clear()

    def _others_train(self, visitor: str) -> bool:
        """Whether runs of anybody else are on the workers."""
        on_workers = (queued for worker in self._supervisor.workers for queued in worker.runs.values())
        return any(queued.run.owner != visitor for queued in on_workers)

    def _process_for(self, job: QueuedJob) -> WorkerProcess | None:
        """A free process for a job, or a new one; None while the job has to wait.

        A process has one job at a time. Of two jobs that measure time, the second waits for the first; so does a visitor's second
        job, so that one visitor never holds all processes.
        """
        processes = [worker for worker in self._supervisor.workers if worker.post.role == "jobs"]
        computing = [worker.job for worker in processes if worker.job is not None]
        if any((job.alone and other.alone) or job.visitor.id == other.visitor.id != "" for other in computing):
            return None
        name = self._supervisor.machines.measuring if job.ask.job.anywhere else HERE
        own = [
            worker for worker in processes if worker.post.machine == name and not (worker.retired or worker.kill_reason)
        ]
        free = [worker for worker in own if worker.available and worker.job is None]
        if free or len(own) >= (self._supervisor.limits.job_processes if name == HERE else 1):
            return min(free, key=lambda worker: worker.post.number, default=None)
        taken = {worker.post for worker in processes}
        posts = (Post("jobs", number, machine=name) for number in count())
        return self._supervisor.launch(next(post for post in posts if post not in taken))

    def _going(self) -> Iterator[QueuedJob]:
        """The jobs that wait and those on a process."""
        for jobs in self._waiting.values():
            yield from jobs
        yield from (worker.job for worker in self._supervisor.workers if worker.job is not None)

    def _join(self, job: Job[Any], visitor: Visitor, alone: bool) -> QueuedJob:
        """The same job where one is under way, with one more caller, else a new one."""
        for queued in self._going():
            if queued.alone == alone and queued.ask.job == job:
                queued.callers += 1
                return queued
        queued = QueuedJob(protocol.Ask(secrets.token_hex(8), job), visitor, alone)
        self._waiting.setdefault(visitor.id, deque()).append(queued)
        return queued

    def _leave(self, queued: QueuedJob) -> None:
        """A caller gives up. The last one takes the job along, and ends the process that computes it."""
        queued.callers -= 1
        if queued.callers == 0:
            for worker in self._supervisor.workers:
                if worker.job is queued:
                    worker.job = None
                    worker.kill_for(KillReason("took too long", queued.ask.job_id))
        jobs = self._waiting.get(queued.visitor.id, deque())
        if queued.callers == 0 and queued in jobs:
            jobs.remove(queued)
            if not jobs:
                del self._waiting[queued.visitor.id]
