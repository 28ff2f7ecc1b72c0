"""The pool of workers, through which every run is submitted and controlled and every short job is asked.

It uses threads only, so it works inside any server. Only the reader thread of a run's worker appends the run's events, so
they are in the worker's order.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import RLock

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction, predict
from engine.foundation.job import Answer, Job
from engine.foundation.log import LOG, Queue
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
from engine.workers.put_away import Presence, give_up, leave, put_away_idle, read_request, set_pace, try_later
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
ELSEWHERE = "This run goes on at another server that shares the data folder; it can be steered there only."
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
        here: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """``here``: whether the visitor of that id has a page open."""
        self.runs = runs
        self.limits = limits or Limits()
        self.size = size or self.limits.workers
        """The number of worker processes that train, when all are up."""
        self._predict = predict
        self._lock = RLock()
        self._queue: list[QueuedRun] = []
        self._queue_log = Queue()
        self._saving = 0  # the number of runs whose folders are being written
        self.allowances = Allowances(self.limits)
        """What each visitor has going."""
        self._presence = Presence(here)
        self._left: dict[str, str] = {}  # the runs that were put away because their owner had left, and the owner
        prune = partial(runs.prune, self.limits.retention)
        self._supervisor = Supervisor(
            training, self.limits, self._lock,
            wanted=self._posts, on_report=self._take_report, on_death=self._end_tasks_of, tidy=prune,
            on_round=self._look_at_idle,
        )  # fmt: skip
        # With one worker, memory is scarce: its job process is there only while somebody asks.
        kept = 0 if self.size == 1 else 1
        self._questions = Questions(self._lock, lambda: self._supervisor.workers, self.limits.job_processes, kept)

    def start(self) -> bool:
        """Start the workers, one after another so that the first is ready soon; returns at once. False if already started."""
        if not self._supervisor.start():
            return False
        with suppress(OSError):  # tried again every few seconds
            self.runs.lease.take()
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
        self.runs.lease.release()
        atexit.unregister(self.close)

    def __enter__(self) -> Pool:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Runs

    def submit(self, request: RunRequest) -> Run:
        """Create a run, which starts as soon as a worker has room. Raises Refused."""
        try:
            return self._submit(request)
        except Refused as refused:
            LOG.info("A run was refused: %s", refused)
            raise

    def _submit(self, request: RunRequest) -> Run:
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
            closing = not self._enqueue(None if run is None else QueuedRun(run, request, prediction, lease), lease)
        if closing:
            run.append([Ended(0, "lost", CLOSED)])
            raise Refused(CLOSING)
        return run

    def _enqueue(self, queued: QueuedRun | None, lease: Lease | None) -> bool:
        """Queue a run that was admitted; None: it was not to be. False where the pool is closing."""
        with self._lock:
            self._saving -= 1
            closing = self._supervisor.closing.is_set()
            if queued is not None and not closing:
                self._queue.append(queued)
                self._dispatch()
            elif lease is not None:
                lease.release()
        return not closing

    def _bring_back(self, run: Run, controls: Sequence[protocol.Control], by: Visitor) -> None:
        """Queue a run that was put away, and control it. Raises Refused where there is no room for it."""
        request = read_request(run, by.address)
        prediction = self._predict(run.config)
        lease = self._admit(request)
        queued = QueuedRun(run, request, prediction, lease, saved=True)
        for control in controls:
            queued.control_early(control)
        with self._lock:
            self._left.pop(run.id, None)
            claimed = run.away  # else somebody was quicker
            if claimed:
                self.runs.bring_back(run)
        if not self._enqueue(queued if claimed else None, lease) and claimed:
            run.put_away()
            raise Refused(CLOSING)

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
        run = self._check_owner(control.run_id, by)
        if run is None or not run.away:
            self._send(control)
        elif isinstance(control, protocol.Resume | protocol.Step):
            self._bring_back(run, [control], by)
        elif isinstance(control, protocol.SetPace):
            set_pace(run, control.steps_per_second)

    def _check_owner(self, run_id: str, by: Visitor) -> Run | None:
        run = self.runs.get(run_id)
        if run is not None and not by.may_steer(run.owner):
            raise Refused(NOT_YOURS)
        if run is not None and run.elsewhere:
            raise Refused(ELSEWHERE)
        return run

    def stop(self, run_id: str, by: Visitor = PROGRAM) -> None:
        """End a run after the step in progress and keep its weights. A run that does not yield is ended by force. Raises
        Refused where the run is not the visitor's."""
        run = self._check_owner(run_id, by)
        if run is not None and run.away:
            give_up(run)
            return
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
                folder = str(queued.run.folder)
                worker.send(protocol.Start(queued.run.id, queued.request, queued.prediction, folder, queued.saved))
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
        self._queue_log.note(len(self._queue))
        for rank, queued in enumerate(self._queue):
            queued.run.wait_in_queue(rank + 1, waits[rank] if waits else None)

    # The workers

    def _send(self, control: protocol.Control) -> None:
        """Send a control to the run's worker, or keep it until the run has one. An ended run does not get it."""
        with self._lock:
            for worker in self._supervisor.workers:
                if control.run_id in worker.runs:
                    worker.runs[control.run_id].control_on_worker(control)
                    worker.send(control)
                    if not worker.runs[control.run_id].begun:  # it holds as well if another worker takes the run
                        worker.runs[control.run_id].control_early(control)
            for queued in self._queue:
                if queued.run.id == control.run_id:
                    queued.control_early(control)

    def _take_report(self, worker: WorkerProcess, report: protocol.Report) -> None:
        """Handle a report. Runs on the reader thread of the worker."""
        match report:
            case protocol.RunUpdate(run_id, events, "put away"):
                queued = worker.runs[run_id]
                queued.run.append(events)
                leave(queued)
                self._take_off(worker, queued)
            case protocol.RunUpdate(run_id, _, "kept"):
                try_later(worker.runs[run_id])
            case protocol.RunUpdate(run_id, events, state):
                queued = worker.runs[run_id]
                queued.begin()
                queued.run.append(events, state if state in ("running", "paused") else None)
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

    def _take_off(self, worker: WorkerProcess, queued: QueuedRun) -> None:
        """Free the place of a run that its worker has put away; what was asked of it meanwhile is done now."""
        with self._lock:
            del worker.runs[queued.run.id]
            queued.release()
            if queued.left and not queued.wanted:
                self._left[queued.run.id] = queued.run.owner
            self._dispatch()
        if queued.stop_asked_at is not None:
            give_up(queued.run)
        elif queued.wanted:
            with suppress(Refused):  # it stays away, and Resume says why
                self._bring_back(queued.run, queued.asked_meanwhile, queued.request.visitor)

    def _look_at_idle(self, now: float) -> None:
        """Put away the runs that stand still or go on for nobody, and bring back those whose owner is here again."""
        self.runs.lease.touch()
        with self._lock:
            put_away_idle(self._supervisor.workers, self._presence, now, others_wait=bool(self._queue))
            back = [run_id for run_id, owner in self._left.items() if self._presence.here(owner)]
            for run_id in back:
                del self._left[run_id]
        for run_id in back:
            with suppress(Refused):
                self.resume(run_id)

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
