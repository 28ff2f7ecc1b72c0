"""The pool of workers, through which every run is submitted and controlled and every short job is asked.

It combines the queue of runs, the checkpoints, the questions, and the supervisor of the worker processes. It uses threads only, so
it works inside any server. Only the reader thread of a run's worker appends the run's events, so they are in the worker's order.
"""

import atexit
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from threading import Lock, Thread
from typing import Self

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction, predict
from engine.foundation.errors import JobError, NoRoom, Refused
from engine.foundation.files import data_folder_problem
from engine.foundation.job import AnswerT, Job
from engine.foundation.log import LOG
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.saved_request import set_pace
from engine.runs.store import Runs
from engine.serving import protocol
from engine.serving.allowances import Allowances
from engine.serving.health import Health, health_of
from engine.serving.limits import Limits, refusal
from engine.serving.processes.machines import Cluster, Machines
from engine.serving.processes.process import WorkerProcess
from engine.serving.processes.supervisor import CHECK_SECONDS, Supervisor
from engine.serving.questions import Questions
from engine.serving.runs.checkpoints import Checkpoints, end, ending_at_close, keep_request
from engine.serving.runs.memory import accelerator_for
from engine.serving.runs.presence import Presence
from engine.serving.runs.queue import CLOSING, RunQueue
from engine.serving.runs.queued import QueuedRun, predicted

TRAINING = "engine.training.train"  # with begin() and train()
# for the workers to save their runs when the pool is closed: supervisors of servers kill after ten
SECONDS_TO_SAVE = 5.0
NOT_YOURS = "Somebody else started this run. Press Train to start your own."
SHARED = "This run belongs to an experiment. Stop the experiment to stop it."


class Pool:
    """Warm worker processes, the runs and jobs on them, and those in the queue.

    Methods may be called from any thread. Nothing is written to or read from the disk under the pool's lock, so that a slow disk
    delays nobody else.
    """

    def __init__(
        self,
        runs: Runs,
        limits: Limits | None = None,
        size: int | None = None,
        *,
        training: str = TRAINING,
        predict: Callable[[RunConfig], Prediction] = predict,
        is_present: Callable[[str], bool] = lambda _: True,
        cluster: Cluster | None = None,
    ) -> None:
        """``is_present``: true if the visitor of that id has a page open. ``size``: the worker processes that train on this machine, by
        default the limits'."""
        self.runs = runs
        self.limits = limits or Limits()
        self.machines = Machines(self.limits, size or self.limits.workers, cluster)
        self._predict = predict
        self._closing = Lock()
        self.allowances = Allowances(self.limits)
        self._supervisor = Supervisor(
            training, self.limits, self.machines,
            on_report=self._take_report, on_death=self._end_tasks_of, on_round=self._update_presence,
        )  # fmt: skip
        self._lock = self._supervisor.lock
        presence = Presence(is_present)
        self._queue = RunQueue(self._supervisor, self.allowances, presence)
        self._checkpoints = Checkpoints(self._supervisor, runs, self._queue, presence, predict)
        self._questions = Questions(self._supervisor)

    def start(self) -> bool:
        """Start the workers and return at once. False if already started."""
        if not self._supervisor.start():
            return False
        pruned = (self.limits.retention, self._supervisor.closing)  # a slow disk may take minutes for it
        Thread(target=self.runs.keep_pruned, args=pruned, name="pool-pruning", daemon=True).start()
        atexit.register(self.close)
        return True

    def close(self) -> None:
        """End every worker and wait for it. Runs become checkpoints if there is time, and continue when :meth:`take_up` is called
        after the next start; the others are lost, and their events say so. A second caller waits for the first."""
        with self._closing:
            if self._supervisor.closing.is_set():
                return
            with self._lock:
                self._supervisor.closing.set()
                finish = self._checkpoints.close_queue()
                self._questions.close(CLOSING)
            finish()
            deadline = time.monotonic() + SECONDS_TO_SAVE
            while self._checkpoints.leave_all() and time.monotonic() < deadline:
                time.sleep(CHECK_SECONDS / 2)
            self._supervisor.close()
            atexit.unregister(self.close)

    def take_up(self) -> None:
        self._checkpoints.take_up()

    def __enter__(self) -> Self:
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
        forecast = partial(predicted, request, self._predict)
        prediction = forecast(request.config)
        on = accelerator_for(prediction, self._supervisor, self.wait_until_ready)
        if sentence := refusal(request.config, prediction, self.limits, forecast, on):
            raise Refused(sentence)
        request = replace(request, accelerator=prediction.device.accelerator)
        release = self._queue.admit(request)
        try:  # without the lock: a run's folder is written to the disk
            run = self.runs.create(request.config, request.visitor.id, request)
        except OSError as error:
            release()
            raise Refused(data_folder_problem() or f"The run cannot be saved: {error.strerror or error}.") from error
        queued = QueuedRun(run, request, prediction, release)
        if not self._queue.add(queued):
            end(queued, ending_at_close(queued))
            raise Refused(CLOSING)
        return run

    def follow(self, run_id: str, visitors: Iterable[Visitor]) -> None:
        """Train a trial for these visitors from now on (:class:`Presence`), no more for earlier ones."""
        with self._lock:
            if (queued := self._queue.find(run_id)[1]) is not None:
                queued.followers = tuple(visitors)

    # Steering: only the owner's (``by``) or the program's own; of a trial, for which others may wait, the program's own. A run is on a
    # worker, in the queue, or a checkpoint. Each raises Refused where the visitor may not, or where there is no room for it.

    def steer(
        self, run_id: str, action: protocol.Steering, by: Visitor = PROGRAM, *, pace: float | None = None
    ) -> None:
        """Send a control to the run's worker, or keep it until the run has one. ``pace``: as in :class:`protocol.Control`."""
        run, control = self._find(run_id, by), protocol.Control(run_id, action, pace)
        with self._lock:
            worker, queued = self._queue.find(run_id)
            changed = queued is not None and queued.control(control)
            if worker is not None:
                worker.send(control)
        if queued is not None and changed:
            keep_request(queued)
        if queued is not None or run is None or not run.checkpointed:
            return
        if action in ("resume", "step"):
            self._checkpoints.bring_back(run, [control], by)
        elif action == "set pace":
            set_pace(run, pace)

    def stop(self, run_id: str, by: Visitor = PROGRAM) -> None:
        """End a run after the step in progress and keep its weights. A run that does not yield is ended by force."""
        run = self._find(run_id, by)
        with self._lock:
            worker, queued = self._queue.find(run_id)
            if queued is not None:
                queued.stop()
                queued.release()  # who stops a run may start another one in its place at once
            if worker is not None:
                worker.send(protocol.Control(run_id, "stop"))
            else:
                self._queue.take_out(lambda other: other is queued)
        if queued is not None and worker is None:
            end(queued, queued.stopped_early)
        elif queued is None and run is not None and run.checkpointed:
            self._checkpoints.give_up(run)

    def _find(self, run_id: str, by: Visitor) -> Run | None:
        """Raises Refused if the visitor may not steer that run from here."""
        run = self.runs.get(run_id)
        with self._lock:
            queued = self._queue.find(run_id)[1]
        if by.id and queued is not None and queued.request.trial:
            raise Refused(SHARED)
        if run is not None and not by.may_steer(run.owner):
            raise Refused(NOT_YOURS)
        return run

    # Jobs

    def ask(
        self, job: Job[AnswerT], visitor: Visitor = PROGRAM, *, alone: bool = False, timeout: float = 30.0
    ) -> AnswerT:
        """The answer to a job, which a job process computes; blocks. Equal jobs at once are computed once. ``alone``: for measuring
        time; no second job of that kind is computed meanwhile, and training gives way to it. Raises JobError with one sentence if
        the job raised, its process died, it waited for ``timeout`` (s) or was computed for longer, or the visitor has too many
        jobs."""
        try:
            with self.allowances.lease("job", visitor):
                return self._questions.ask(job, visitor, alone=alone, timeout=timeout)
        except NoRoom as error:
            raise JobError(str(error)) from error

    def health(self) -> Health:
        with self._lock:
            return health_of(self._supervisor, len(self._queue.waiting))

    def wait_until_ready(self, timeout: float, workers: int | None = None) -> bool:
        """Wait until ``workers`` of them (by default all) are warm; False if the time (s) was too short, or none can be started."""
        deadline = time.monotonic() + timeout
        while self.health().ready < (workers or self.machines.slots):
            if self._supervisor.failing or time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    # The workers

    def _update_presence(self, now: float) -> None:
        self._checkpoints.update_presence(now)
        self._questions.dispatch()  # of visitors who had to wait a while
        self._queue.retry()

    def _take_report(self, worker: WorkerProcess, report: protocol.Report) -> None:
        """Runs on the reader thread of the worker."""
        match report:
            case protocol.RunUpdate():
                self._checkpoints.take(worker, report)
            case protocol.JobAnswer():
                self._questions.take_answer(worker, report)
            case protocol.Busy(task_id):
                with self._lock:
                    worker.begin_task(task_id)
            case protocol.Ready(facts):
                self._supervisor.take_ready(worker, facts)
                self._dispatch()

    def _end_tasks_of(self, worker: WorkerProcess) -> Callable[[], None]:
        """Return the rest of the work, to be done without the lock."""
        with self._lock:
            self._questions.end_job_of(worker)
            closing = self._supervisor.closing.is_set()
            settle = self._checkpoints.move_runs_of(worker, closing=closing)

        def finish() -> None:
            settle()
            if not closing:
                self._dispatch()

        return finish

    def _dispatch(self) -> None:
        with self._lock:
            self._questions.dispatch()
            self._queue.dispatch()
