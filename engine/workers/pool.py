"""The pool of workers, through which every run is submitted and controlled and every short job is asked.

It uses threads only, so it works inside any server. Only the reader thread of a run's worker appends the run's events, so
they are in the worker's order.
"""

from __future__ import annotations

import atexit
import secrets
import time
from collections.abc import Callable
from functools import partial
from threading import RLock
from typing import cast

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction, predict
from engine.foundation.formatting import in_time
from engine.foundation.job import Answer, Job
from engine.runs.events import Ended
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers import protocol
from engine.workers.errors import JobError, NoRoom, Refused
from engine.workers.health import Health, health_of
from engine.workers.limits import Limits, no_room, refusal
from engine.workers.placement import worker_for_job, worker_for_run
from engine.workers.process import KillReason, WorkerProcess
from engine.workers.queued import QueuedJob, QueuedRun
from engine.workers.supervisor import Supervisor

TRAINING = "engine.training.train"
"""The module whose ``prepare`` and ``train`` the workers use."""
CLOSING = "The app is closing."
CLOSED = "The app was closed before this run had ended."


class Pool:
    """Warm worker processes, the runs and jobs on them, and those in the queue.

    All methods may be called from any thread. Nothing is written to or read from the disk under the pool's lock, so that a
    slow disk holds up nobody else.
    """

    def __init__(
        self,
        runs: Runs,
        limits: Limits | None = None,
        size: int | None = None,
        *,
        training: str = TRAINING,
        predict: Callable[[RunConfig], Prediction] = predict,
    ) -> None:
        self.runs = runs
        self.limits = limits or Limits()
        self.size = size or self.limits.workers
        """The number of worker processes when all are up."""
        self._predict = predict
        self._lock = RLock()
        self._queue: list[QueuedRun] = []
        self._jobs: list[QueuedJob] = []  # jobs that wait for a worker
        self._saving: list[str] = []  # the sessions of the runs whose folders are being written
        prune = partial(runs.prune, self.limits.kept_runs, self.limits.kept_bytes)
        self._supervisor = Supervisor(
            self.size, training, self.limits, self._lock,
            on_report=self._take_report, on_death=self._end_tasks_of, tidy=prune,
        )  # fmt: skip

    def start(self) -> bool:
        """Start the workers, one after another so that the first is ready soon; returns at once. False if already started."""
        if not self._supervisor.start():
            return False
        atexit.register(self.close)
        return True

    def close(self) -> None:
        """End every worker and wait for it. Runs that were training are lost, and their events say so."""
        with self._lock:
            self._supervisor.closing.set()
            workers = self._supervisor.workers
            lost = [*self._queue, *(queued for worker in workers for queued in worker.runs.values())]
            for job in [*self._jobs, *(job for worker in workers for job in worker.jobs.values())]:
                job.fail(CLOSING)
            self._queue.clear()
            self._jobs.clear()
        for queued in lost:
            queued.run.append([Ended(queued.run.step, "lost", CLOSED)])
        self._supervisor.close()
        atexit.unregister(self.close)

    def __enter__(self) -> Pool:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Runs

    def submit(self, request: RunRequest) -> Run:
        """Create a run, which starts as soon as a worker has room. Raises Refused."""
        prediction = self._predict(request.config)
        if sentence := refusal(request.config, prediction, self.limits, self._predict):
            raise Refused(sentence)
        self._reserve_place(request.session)
        run = None
        try:  # without the lock: a run's folder is written to the disk
            run = self.runs.create(request.config, request.session)
        except OSError as error:
            raise Refused(f"The run cannot be saved: {error.strerror or error}.") from error
        finally:
            with self._lock:
                self._saving.remove(request.session)
                closing = self._supervisor.closing.is_set()
                if run is not None and not closing:
                    self._queue.append(QueuedRun(run, request, prediction))
                    self._dispatch()
        if closing:
            run.append([Ended(0, "lost", CLOSED)])
            raise Refused(CLOSING)
        return run

    def _reserve_place(self, session: str) -> None:
        """Count a run of this session as waiting before its folder is written. Raises Refused where there is no room."""
        with self._lock:
            if self._supervisor.closing.is_set():
                raise Refused(CLOSING)
            # While none waits, a run that is being saved may still find room on a worker.
            waiting = len(self._queue) + len(self._saving) if self._queue else 0
            if sentence := no_room(waiting, self._runs_of(session) if session else 0, self.limits):
                raise NoRoom(sentence)
            self._saving.append(session)

    def _runs_of(self, session: str) -> int:
        """The number of runs of a session that go, wait or are being saved."""
        on_workers = [queued for worker in self._supervisor.workers for queued in worker.runs.values()]
        runs = [queued.run for queued in [*self._queue, *on_workers]]
        return sum(run.session == session and run.live for run in runs) + self._saving.count(session)

    def pause(self, run_id: str) -> None:
        """Pause a run after the step in progress, with a snapshot."""
        self._send(protocol.Pause(run_id))

    def step(self, run_id: str) -> None:
        """Take exactly one optimizer step and a snapshot; a run that was training is paused by it."""
        self._send(protocol.Step(run_id))

    def resume(self, run_id: str) -> None:
        self._send(protocol.Resume(run_id))

    def set_pace(self, run_id: str, steps_per_second: float | None) -> None:
        """Set the pace of a run; None is full speed."""
        self._send(protocol.SetPace(run_id, steps_per_second))

    def stop(self, run_id: str) -> None:
        """End a run after the step in progress and keep its weights. A run that does not yield is ended by force."""
        with self._lock:
            waiting = [queued for queued in self._queue if queued.run.id == run_id]
            for queued in waiting:
                self._queue.remove(queued)
                queued.run.wait_in_queue(None)
                self._number_queue()
            for worker in self._supervisor.workers:
                if run_id in worker.runs:
                    queued = worker.runs[run_id]
                    queued.stop_asked_at = queued.stop_asked_at or time.monotonic()
            self._send(protocol.Stop(run_id))
        for queued in waiting:
            queued.run.append([Ended(0, "stopped", "It was stopped before it started.")])

    # Jobs

    def ask(self, job: Job[Answer], *, alone: bool = False, timeout: float = 30.0) -> Answer:
        """The answer to a job, which a worker computes between two slices of training.

        Blocks. While a worker computes a job, nothing else runs on it. ``alone``: for measuring time; the job goes to a
        worker without runs if there is one. Raises JobError with one sentence where the job raised, its worker died or
        it took longer than ``timeout`` (s); a worker that is still computing it is then killed.
        """
        queued = QueuedJob(protocol.Ask(secrets.token_hex(8), job), alone)
        with self._lock:
            if self._supervisor.closing.is_set():
                raise JobError(CLOSING)
            self._jobs.append(queued)
            self._dispatch()
        if not queued.done.wait(timeout):
            self._abandon(queued, timeout)
            raise JobError(f"{job.function} took longer than {in_time(timeout)}.")
        if queued.error:
            raise JobError(queued.error)
        try:
            return cast(Answer, protocol.read_value(queued.value))
        except TypeError as error:
            raise JobError(f"{job.function}: {error}") from error

    # Facts

    def health(self) -> Health:
        """Facts about the pool for a page: workers, runs, and the device that was found."""
        with self._lock:
            return health_of(self._supervisor.workers, self.size, len(self._queue), failing=self._supervisor.failing)

    def wait_until_ready(self, timeout: float, workers: int | None = None) -> bool:
        """Wait until ``workers`` of them (by default all) are warm; False when the time (s) was too short."""
        deadline = time.monotonic() + timeout
        while self.health().ready < (workers or self.size):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    # The queue

    def _dispatch(self) -> None:
        """Give waiting jobs and runs to the workers that have room for them, in the order of submission."""
        for job in list(self._jobs):
            worker = worker_for_job(self._supervisor.workers, job)
            if worker is not None:
                self._jobs.remove(job)
                worker.jobs[job.ask.job_id] = job
                worker.send(job.ask)
        for queued in list(self._queue):
            worker = worker_for_run(self._supervisor.workers, queued, self.limits.runs_per_worker)
            if worker is not None:
                self._queue.remove(queued)
                queued.run.wait_in_queue(None)
                worker.runs[queued.run.id] = queued
                worker.send(protocol.Start(queued.run.id, queued.request, queued.prediction, str(queued.run.folder)))
                for _ in range(queued.early_steps):
                    worker.send(protocol.Step(queued.run.id))
        self._number_queue()

    def _number_queue(self) -> None:
        for rank, queued in enumerate(self._queue, start=1):
            queued.run.wait_in_queue(rank)

    # The workers

    def _send(self, control: protocol.Control) -> None:
        """Send a control to the run's worker, or keep it until the run has one. An ended run does not get it."""
        with self._lock:
            for worker in self._supervisor.workers:
                if control.run_id in worker.runs:
                    worker.send(control)
            for queued in self._queue:
                if queued.run.id == control.run_id:
                    queued.control_early(control)

    def _abandon(self, job: QueuedJob, timeout: float) -> None:
        """Give up a job that its caller no longer waits for. A worker that computes it is killed: it cannot be interrupted."""
        job_id = job.ask.job_id
        with self._lock:
            if job in self._jobs:
                self._jobs.remove(job)
            for worker in self._supervisor.workers:
                if worker.jobs.pop(job_id, None) is None:
                    continue
                if worker.busy_with == job_id:
                    worker.kill_for(KillReason(f"took longer than {in_time(timeout)}", job_id))
                else:
                    worker.send(protocol.Forget(job_id))

    def _take_report(self, worker: WorkerProcess, report: protocol.Report) -> None:
        """Handle a report. Runs on the reader thread of the worker."""
        match report:
            case protocol.RunUpdate(run_id, events, state):
                queued = worker.runs[run_id]
                queued.run.append(events, None if state == "over" else state)
                with self._lock:
                    if state == "over":
                        del worker.runs[run_id]
                        self._dispatch()
                    elif state is not None:
                        queued.paused_at = time.monotonic() if state == "paused" else None
            case protocol.Answer(job_id):
                with self._lock:
                    job = worker.jobs.pop(job_id, None)
                if job is not None:
                    job.finish(report)
            case protocol.Busy(task_id):
                worker.busy_with = task_id
            case protocol.Ready(facts):
                with self._lock:
                    self._supervisor.take_ready(worker, facts)
                    self._dispatch()

    def _end_tasks_of(self, worker: WorkerProcess) -> None:
        """End the runs and jobs of a worker that is gone, with the reason. Nothing is given to it any more."""
        for queued in worker.runs.values():
            queued.run.append([worker.ending_of(queued)])
        for job in worker.jobs.values():
            job.fail(worker.why_it_ended(job.ask.job_id))
