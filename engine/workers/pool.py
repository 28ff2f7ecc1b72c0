"""The pool of workers, through which every run is submitted and controlled and every short job is asked.

It uses threads only, so it works inside any server. Only the reader thread of a run's worker appends the run's events, so
they are in the worker's order.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from functools import partial
from threading import RLock

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction, predict
from engine.foundation.job import Answer, Job
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.events import Ended
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers import protocol
from engine.workers.allowances import Allowances, Lease
from engine.workers.errors import JobError, NoRoom, Refused
from engine.workers.health import Health, health_of
from engine.workers.limits import Limits, no_room, refusal
from engine.workers.placement import own_posts, worker_for_run
from engine.workers.post import Post
from engine.workers.process import NOT_STARTED, WorkerProcess
from engine.workers.questions import Questions
from engine.workers.queue_order import in_turn, seconds_to_start
from engine.workers.queued import QueuedRun
from engine.workers.supervisor import Supervisor

TRAINING = "engine.training.train"
"""The module whose ``prepare`` and ``train`` the workers use."""
CLOSING = "The app is closing."
NOT_YOURS = (
    "This run was started by somebody else. You can watch it; Train starts one of your own with the same settings."
)
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
        """The number of worker processes that train, when all are up."""
        self._predict = predict
        self._lock = RLock()
        self._queue: list[QueuedRun] = []
        self._saving = 0  # the number of runs whose folders are being written
        self.allowances = Allowances(self.limits)
        """What each visitor has going."""
        prune = partial(runs.prune, self.limits.kept_runs, self.limits.kept_bytes)
        self._supervisor = Supervisor(
            training, self.limits, self._lock,
            wanted=self._posts, on_report=self._take_report, on_death=self._end_tasks_of, tidy=prune,
        )  # fmt: skip
        # With one worker, memory is scarce: its job process is there only while somebody asks.
        kept = 0 if self.size == 1 else 1
        self._questions = Questions(self._lock, lambda: self._supervisor.workers, self.limits.job_processes, kept)

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
            self._questions.close(CLOSING)
            self._queue.clear()
        for queued in lost:
            queued.run.append([Ended(queued.run.step, "lost", CLOSED)])
            queued.release()
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
        lease = self._admit(request)
        run = None
        try:  # without the lock: a run's folder is written to the disk
            run = self.runs.create(request.config, request.visitor.id)
        except OSError as error:
            raise Refused(f"The run cannot be saved: {error.strerror or error}.") from error
        finally:
            with self._lock:
                self._saving -= 1
                closing = self._supervisor.closing.is_set()
                if run is not None and not closing:
                    self._queue.append(QueuedRun(run, request, prediction, lease))
                    self._dispatch()
                elif lease is not None:
                    lease.release()
        if closing:
            run.append([Ended(0, "lost", CLOSED)])
            raise Refused(CLOSING)
        return run

    def _admit(self, request: RunRequest) -> Lease | None:
        """Count a run as waiting, and among its owner's, before its folder is written. Raises Refused where there is no room."""
        with self._lock:
            if self._supervisor.closing.is_set():
                raise Refused(CLOSING)
            # While none waits, a run that is being saved may still find room on a worker.
            if sentence := no_room(len(self._queue) + self._saving if self._queue else 0, self.limits):
                raise NoRoom(sentence)
            lease = None if request.trial else self.allowances.take("run", request.visitor)
            self._saving += 1
        return lease

    # Steering: only the owner's (``by``) or the program's own.

    def pause(self, run_id: str, by: Visitor = PROGRAM) -> None:
        """Pause a run after the step in progress, with a snapshot. Raises Refused where the run is not the visitor's."""
        self._steer(protocol.Pause(run_id), by)

    def step(self, run_id: str, by: Visitor = PROGRAM) -> None:
        """Take exactly one optimizer step and a snapshot; a run that was training is paused by it. Raises Refused as above."""
        self._steer(protocol.Step(run_id), by)

    def resume(self, run_id: str, by: Visitor = PROGRAM) -> None:
        """Continue a paused run. Raises Refused as above."""
        self._steer(protocol.Resume(run_id), by)

    def set_pace(self, run_id: str, steps_per_second: float | None, by: Visitor = PROGRAM) -> None:
        """Set the pace of a run; None is full speed. Raises Refused as above."""
        self._steer(protocol.SetPace(run_id, steps_per_second), by)

    def _steer(self, control: protocol.Control, by: Visitor) -> None:
        self._check_owner(control.run_id, by)
        self._send(control)

    def _check_owner(self, run_id: str, by: Visitor) -> None:
        run = self.runs.get(run_id)
        if run is not None and not by.may_steer(run.owner):
            raise Refused(NOT_YOURS)

    def stop(self, run_id: str, by: Visitor = PROGRAM) -> None:
        """End a run after the step in progress and keep its weights. A run that does not yield is ended by force. Raises
        Refused where the run is not the visitor's."""
        self._check_owner(run_id, by)
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
            queued.run.append([Ended(0, "stopped", NOT_STARTED)])
            queued.release()

    # Jobs

    def ask(
        self, job: Job[Answer], visitor: Visitor = PROGRAM, *, alone: bool = False, timeout: float = 30.0
    ) -> Answer:
        """The answer to a job, which a job process computes; blocks. Equal jobs at once are computed once.

        ``alone``: for measuring time; no second job of that kind is computed meanwhile, and training gives way to it.
        Raises JobError with one sentence where the job raised, its process died, it took longer than ``timeout`` (s), or the
        visitor has too many going. A process that computes what nobody waits for any more is ended.
        """
        try:
            with self.allowances.taken("job", visitor):
                return self._questions.ask(
                    job, visitor, alone=alone, timeout=timeout, start=self._supervisor.fill_posts
                )
        except NoRoom as error:
            raise JobError(str(error)) from error

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
        """Give waiting jobs and runs to the workers that have room for them, each visitor in turn."""
        self._questions.dispatch()
        on_workers = [queued for worker in self._supervisor.workers for queued in worker.runs.values()]
        self._queue = in_turn(self._queue, on_workers)
        for queued in list(self._queue):
            worker = worker_for_run(self._supervisor.workers, queued, self.limits.runs_per_worker, self.limits)
            if worker is not None:
                self._queue.remove(queued)
                queued.run.wait_in_queue(None)
                worker.runs[queued.run.id] = queued
                worker.send(protocol.Start(queued.run.id, queued.request, queued.prediction, str(queued.run.folder)))
                for _ in range(queued.early_steps):
                    worker.send(protocol.Step(queued.run.id))
        self._number_queue()
        self._supervisor.fill_posts()

    def _posts(self, now: float) -> list[Post]:
        """The worker processes that should be there now."""
        own = own_posts(self._queue, self._supervisor.workers, self.size, self.limits)
        return [*(Post("runs", number) for number in range(self.size)), *self._questions.posts(now), *own]

    def _number_queue(self) -> None:
        going = [
            [queued.seconds_left for queued in worker.runs.values()]
            for worker in self._supervisor.workers
            if worker.post.role == "runs"
        ]
        waits = seconds_to_start(going, [queued.seconds_left for queued in self._queue], self.limits.runs_per_worker)
        for rank, queued in enumerate(self._queue):
            queued.run.wait_in_queue(rank + 1, waits[rank] if waits else None)

    # The workers

    def _send(self, control: protocol.Control) -> None:
        """Send a control to the run's worker, or keep it until the run has one. An ended run does not get it."""
        with self._lock:
            for worker in self._supervisor.workers:
                if control.run_id in worker.runs:
                    worker.send(control)
                    if not worker.runs[control.run_id].begun:  # it holds as well if another worker takes the run
                        worker.runs[control.run_id].control_early(control)
            for queued in self._queue:
                if queued.run.id == control.run_id:
                    queued.control_early(control)

    def _take_report(self, worker: WorkerProcess, report: protocol.Report) -> None:
        """Handle a report. Runs on the reader thread of the worker."""
        match report:
            case protocol.RunUpdate(run_id, events, state):
                queued = worker.runs[run_id]
                queued.begin()
                queued.run.append(events, None if state == "over" else state)
                with self._lock:
                    if state == "over":
                        del worker.runs[run_id]
                        worker.end_task(run_id)
                        queued.release()
                        self._dispatch()
                    elif state is not None:
                        queued.paused_at = time.monotonic() if state == "paused" else None
            case protocol.Answer():
                self._questions.take_answer(worker, report)
                with self._lock:
                    self._supervisor.fill_posts()
            case protocol.Busy(task_id):
                worker.begin_task(task_id)
            case protocol.Ready(facts):
                with self._lock:
                    self._supervisor.take_ready(worker, facts)
                    self._dispatch()

    def _end_tasks_of(self, worker: WorkerProcess) -> None:
        """End the runs and the job of a worker that is gone, with the reason; what it had not begun waits for another one."""
        with self._lock:
            self._questions.end_job_of(worker)
            closing = self._supervisor.closing.is_set()
            back = [] if closing else [queued for queued in worker.runs.values() if queued.may_return]
            for queued in back:
                queued.returned += 1
                del worker.runs[queued.run.id]
            self._queue = [*back, *self._queue]
            lost = list(worker.runs.values())
        for queued in lost:
            queued.run.append([worker.ending_of(queued)])
            queued.release()
        with self._lock:
            if not closing:
                self._dispatch()
