"""The questions: jobs for the job processes, from the call of ``ask`` to the answer.

Job processes never train a run, so that neither waits for the other, and a job that takes too long ends no run. The time of a
job counts from the moment at which a process computes it: a job that waits too long for a process is refused, and no process ends.
"""

import secrets
import time
from contextlib import suppress
from itertools import count
from typing import Any, cast

from engine.foundation.errors import JobError
from engine.foundation.formatting import in_time
from engine.foundation.job import AnswerT, Job
from engine.foundation.visitor import RateLimit, Visitor
from engine.serving import protocol
from engine.serving.allowances import has_share
from engine.serving.fair_queue import FairQueue
from engine.serving.processes.machines import APP_MACHINE
from engine.serving.processes.messages import read_value, write_value
from engine.serving.processes.process import KillReason, Slot, WorkerProcess
from engine.serving.processes.supervisor import Supervisor
from engine.serving.runs.queued import QueuedJob

# extra time of a question while no process of this program was ready yet: the first one waits for imports
FIRST_START = 120.0
# seconds of jobs that a visitor has in each second, and at once, while others train: jobs go before training
SHARE, AT_ONCE = 0.25, 5.0
# the same for a network address while somebody elsewhere trains: a school is one address, and so is a visitor with many cookies
ADDRESS_SHARE, ADDRESS_AT_ONCE = 1.0, 60.0
START_CHECK_SECONDS = 0.1  # between two checks that a process has begun its job
MAX_QUESTION_BYTES = 2**20  # of a pickled question


class Questions:
    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor, self._lock = supervisor, supervisor.lock
        self._waiting: list[QueuedJob] = []
        self._fair_queue = FairQueue()
        self._by_visitor = RateLimit(SHARE, AT_ONCE)
        self._by_address = RateLimit(ADDRESS_SHARE, ADDRESS_AT_ONCE)
        self._closed = ""

    def ask(self, job: Job[AnswerT], visitor: Visitor, *, alone: bool, timeout: float) -> AnswerT:
        """The answer to a job; blocks. It may wait for a process for ``timeout`` seconds, and be computed for as long; the imports
        of this program's first process do not count. Raises JobError with one sentence."""
        if len(write_value(job)) > MAX_QUESTION_BYTES:
            raise JobError(f"The question is longer than {MAX_QUESTION_BYTES // 2**20} MiB.")
        with self._lock:
            if self._closed:
                raise JobError(self._closed)
            queued = self._join(job, visitor, alone)
            warm = any(worker.ready for worker in self._supervisor.workers)
            self.dispatch()
        answer = self._answer_of(queued, timeout, timeout if warm else timeout + FIRST_START)
        try:
            return cast(AnswerT, read_value(answer))
        except TypeError as error:
            raise JobError(f"{job.noun} failed: {error}") from error

    def _answer_of(self, queued: QueuedJob, computes: float, waits: float) -> bytes:
        """Wait at most ``waits`` seconds for a process and ``computes`` seconds for the answer. Raises JobError."""
        called_at = time.monotonic()
        while True:
            begun_at = queued.begun_at
            until = called_at + waits if begun_at is None else max(called_at, begun_at) + computes
            with suppress(TimeoutError):
                return queued.answer.result(max(START_CHECK_SECONDS, until - time.monotonic()))
            with self._lock:
                if queued.begun_at != begun_at or queued.answer.done():
                    continue
                if begun_at is not None:
                    self._leave(queued)
                    raise JobError(f"{queued.ask.job.noun} took longer than {in_time(computes)}.")
                if queued in self._waiting:  # else a process is about to begin it
                    self._leave(queued)
                    raise JobError(
                        f"{queued.ask.job.noun} has waited for {in_time(waits)}, because many ask at once. Ask again."
                    )

    def dispatch(self) -> None:
        """Give waiting jobs to free processes, those of each network address and of each visitor there in turn
        (:class:`FairQueue`). A visitor who had a large share of the time recently waits while others train."""
        with self._lock:
            asking = [queued for queued in self._waiting if not self._has_to_wait(queued.visitor)]
            for queued in self._fair_queue.in_turn(asking, lambda queued: queued.visitor.flow):
                if (worker := self._process_for(queued)) is not None:
                    worker.job = queued
                    worker.send(queued.ask)
                    self._waiting.remove(queued)
                    self._fair_queue.spend(queued.visitor.flow, 1)

    def take_answer(self, worker: WorkerProcess, answer: protocol.JobAnswer) -> None:
        with self._lock:
            queued, worker.job, worker.idle_since = worker.job, None, time.monotonic()
            self._spend(queued)
            self.dispatch()
        if queued is not None and answer.error:
            queued.answer.set_exception(JobError(answer.error))
        elif queued is not None:
            queued.answer.set_result(answer.value)

    def end_job_of(self, worker: WorkerProcess) -> None:
        with self._lock:
            queued, worker.job = worker.job, None
            self._spend(queued)
            if queued is None:
                return
            # a job that the process had not begun waits again, once if the process was ready; one that it computed has failed
            if queued.begun_at is None and not (worker.ready and queued.requested_again):
                queued.requested_again = queued.requested_again or worker.ready
                self._waiting.insert(0, queued)
                return
        queued.answer.set_exception(JobError(worker.why_it_ended(queued.ask.job_id)))

    def close(self, sentence: str) -> None:
        """Fail every job, also those asked from now on."""
        with self._lock:
            self._closed = sentence
            going, self._waiting = self._going(), []
            for worker in self._supervisor.workers:
                worker.job = None
        for queued in going:
            queued.answer.set_exception(JobError(sentence))

    def _spend(self, queued: QueuedJob | None) -> None:
        # however it ended
        if queued is not None and queued.begun_at is not None:
            self._by_visitor.spend(queued.visitor.id, time.monotonic() - queued.begun_at)
            self._by_address.spend(queued.visitor.network, time.monotonic() - queued.begun_at)

    def _has_to_wait(self, visitor: Visitor) -> bool:
        """True if a visitor, or all at its network address together, had a large share of the time recently, and somebody else, or
        somebody elsewhere, trains."""
        alone = bool(visitor.id) and self._by_visitor.wait(visitor.id) > 0
        together = bool(visitor.network) and self._by_address.wait(visitor.network) > 0
        if not (alone or together):
            return False
        going = [queued.request.visitor for worker in self._supervisor.workers for queued in worker.runs.values()]
        return any(
            (alone and other.id != visitor.id) or (together and other.network != visitor.network) for other in going
        )

    def _process_for(self, job: QueuedJob) -> WorkerProcess | None:
        """A free process for a job, or a new one; None while the job has to wait.

        A process has one job at a time. Of two jobs that measure time, the second waits for the first; so does a visitor's second
        job, so that one visitor never holds all processes; an address has a share of them (:func:`has_share`).
        """
        processes = [worker for worker in self._supervisor.workers if worker.role == "jobs"]
        computing = [worker.job for worker in processes if worker.job is not None]
        if any((job.alone and other.alone) or job.visitor.id == other.visitor.id != "" for other in computing):
            return None
        network, most = job.visitor.network, self._supervisor.limits.job_processes
        here = sum(other.visitor.network == network for other in computing)
        if network and here and not has_share(here, len(computing), most):
            return None
        name = self._supervisor.machines.measuring if job.ask.job.anywhere else APP_MACHINE
        on_machine = [
            worker for worker in processes if worker.machine == name and not (worker.retired or worker.kill_reason)
        ]
        free = [worker for worker in on_machine if worker.available and worker.job is None]
        if free or len(on_machine) >= (most if name == APP_MACHINE else 1):
            return min(free, key=lambda worker: worker.slot.number, default=None)
        occupied = {worker.slot for worker in processes}
        slots = (Slot("jobs", number, machine=name) for number in count())
        return self._supervisor.launch(next(slot for slot in slots if slot not in occupied))

    def _going(self) -> list[QueuedJob]:
        return self._waiting + [worker.job for worker in self._supervisor.workers if worker.job is not None]

    def _join(self, job: Job[Any], visitor: Visitor, alone: bool) -> QueuedJob:
        # the same job is computed once
        for queued in self._going():
            if queued.alone == alone and queued.ask.job == job:
                queued.callers += 1
                return queued
        queued = QueuedJob(protocol.Ask(secrets.token_hex(8), job), visitor, alone)
        self._waiting.append(queued)
        return queued

    def _leave(self, queued: QueuedJob) -> None:
        # the last caller ends the process that computes for nobody
        queued.callers -= 1
        if queued.callers == 0:
            for worker in self._supervisor.workers:
                if worker.job is queued:
                    worker.job = None
                    self._spend(queued)
                    worker.kill_for(KillReason("took too long", queued.ask.job_id))
            self._waiting = [other for other in self._waiting if other is not queued]
