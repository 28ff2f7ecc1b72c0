"""The supervised pool of workers: where every run is submitted, steered and, if need be, ended.

Threads only, so it works inside any server: one reader and one writer a worker, and one supervisor. All public
methods may be called from any thread. A run's events are appended by the reader of its worker alone, so their
order is the worker's.
"""

from __future__ import annotations

import atexit
import math
import secrets
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event as Signal
from threading import RLock, Thread
from typing import Any

from engine import wire
from engine.child import Child, Job, Ticket, Verdict
from engine.config import RunConfig
from engine.events import Ended
from engine.limits import Limits, refusal
from engine.placement import worker_for_job, worker_for_run
from engine.predict import CPU_IS_FASTER_BELOW, Prediction, predict
from engine.runs import Run, Runs
from engine.supervision import end_the_greedy, end_the_stuck, stop_the_forgotten
from engine.units import in_time

TICK = 0.1
"""Seconds between two rounds of the supervisor."""
MEMORY_EVERY = 1.0
TIDY_EVERY = 600.0
ASLEEP = 5.0
"""A round of the supervisor that comes so late means that the computer slept, not the workers."""
LONGEST_BACKOFF = 30.0
AGAIN = " The same settings and seed give the same run again."


class Refused(ValueError):
    """The run was not started; one sentence says which setting to lower to what."""


class JobError(RuntimeError):
    """A job came to nothing; one sentence says why."""


@dataclass(frozen=True)
class WorkerHealth:
    pid: int
    ready: bool
    runs: int
    memory: int
    """Resident bytes."""
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Health:
    workers: list[WorkerHealth]
    size: int
    """Workers there should be."""
    running: int
    paused: int
    queued: int
    problem: str = ""
    """One sentence when workers cannot be started."""

    @property
    def ready(self) -> int:
        return sum(worker.ready for worker in self.workers)

    @property
    def device(self) -> dict[str, Any]:
        """What the first ready worker found: ``torch``, ``accelerator``, ``accelerators``, ``accelerator_name``."""
        return next((worker.facts for worker in self.workers if worker.ready), {})


class Pool:
    """Workers and the runs on their way through them.

    ``training`` names the module whose ``prepare`` and ``train`` the workers use.
    """

    def __init__(
        self,
        runs: Runs,
        limits: Limits | None = None,
        size: int | None = None,
        *,
        training: str = "engine.train",
        predict: Callable[[RunConfig], Prediction] = predict,
    ) -> None:
        self.runs = runs
        self.limits = limits or Limits()
        self.size = size or self.limits.workers
        self._training, self._predict = training, predict
        self._lock = RLock()
        self._children: dict[int, Child] = {}  # by slot
        self._queue: list[Ticket] = []
        self._jobs: list[Job] = []  # those that wait for a worker
        self._closing = Signal()
        self._failed_starts = 0
        self._start_after = 0.0
        self._supervisor: Thread | None = None

    def start(self) -> None:
        """Start the workers, one after another so that the first is ready soon; returns at once."""
        with self._lock:
            if self._supervisor is None and not self._closing.is_set():
                self._supervisor = Thread(target=self._supervise, name="pool-supervisor", daemon=True)
                self._supervisor.start()
                atexit.register(self.close)

    def close(self) -> None:
        """End every worker and wait for it. Runs that were going are lost, and say so."""
        with self._lock:
            first = not self._closing.is_set()
            self._closing.set()
            children = list(self._children.values())
            if first:
                going = [ticket for child in children for ticket in child.tickets.values()]
                for ticket in [*self._queue, *going]:
                    ticket.run.append([Ended(ticket.run.step, "lost", "The app was closed while this run was going.")])
                for job in [*self._jobs, *(job for child in children for job in child.jobs.values())]:
                    job.give_up("The app is closing.")
                self._queue.clear()
                self._jobs.clear()
        if self._supervisor is not None:
            self._supervisor.join()
        for child in children:
            child.ask_to_leave()
        for child in children:
            child.join(2.0)
        atexit.unregister(self.close)

    def __enter__(self) -> Pool:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Runs

    def submit(
        self,
        config: RunConfig,
        session: str = "",
        *,
        pace: float | None = None,
        paused: bool = False,
        alone: bool = False,
    ) -> Run:
        """A new run, which starts as soon as a worker has room. Raises Refused.

        ``pace``: steps a second; None is full speed. ``paused``: it waits at step 0, its first weights shown.
        ``alone``: for measuring time; while it goes, the other runs of its worker are held and no further ones join.
        """
        sentence = refusal(config, self.limits, self._predict)
        if sentence:
            raise Refused(sentence)
        prediction = self._predict(config)
        with self._lock:
            self._check_room(session)
            try:
                run = self.runs.create(config, session)
            except OSError as error:
                raise Refused(f"The run cannot be saved: {error.strerror or error}.") from error
            run.pace = pace
            self._queue.append(Ticket(run, alone, wants_accelerator(config, prediction), paused=paused))
            self._dispatch()
        return run

    def pause(self, run_id: str) -> None:
        """Pause after the step in progress, with a snapshot."""
        self._tell(wire.Pause(run_id))

    def step(self, run_id: str) -> None:
        """Exactly one optimizer step, then a snapshot; a run that was going is paused by it."""
        self._tell(wire.Step(run_id))

    def resume(self, run_id: str) -> None:
        self._tell(wire.Resume(run_id))

    def set_pace(self, run_id: str, steps_per_second: float | None) -> None:
        """``None`` is full speed."""
        run = self.runs.get(run_id)
        if run is not None:
            run.pace = steps_per_second
        self._tell(wire.SetPace(run_id, steps_per_second))

    def stop(self, run_id: str) -> None:
        """End a run after the step in progress; its weights are kept. One that does not yield is ended by force."""
        with self._lock:
            waiting = next((ticket for ticket in self._queue if ticket.run.id == run_id), None)
            if waiting is not None:
                self._queue.remove(waiting)
                waiting.run.append([Ended(0, "stopped", "It was stopped before it started.")])
                self._number_queue()
                return
            for child in self._children.values():
                if run_id in child.tickets:
                    child.tickets[run_id].stop_asked = child.tickets[run_id].stop_asked or time.monotonic()
        self._tell(wire.Stop(run_id))

    def _tell(self, control: wire.Control) -> None:
        """Say it to the run's worker, or as soon as it has one. A run that has ended does not hear it."""
        with self._lock:
            for child in self._children.values():
                if control.run_id in child.tickets:
                    child.send(control)
            for ticket in self._queue:
                if ticket.run.id == control.run_id:
                    ticket.early.append(control)

    # Jobs

    def ask(self, function: str, *args: Any, alone: bool = False, timeout: float = 30.0, **kwargs: Any) -> Any:
        """The value of ``module:function`` called in a worker, which answers between two slices of training.

        Blocks. The value comes back pickled: numpy and plain Python, no tensors. While a job computes, nothing else
        runs on its worker. ``alone``: for measuring time; it goes to a worker without runs if there is one. Raises
        JobError with one sentence where the function raised, its worker died or it took longer than ``timeout``
        (s); a worker that is still at it then is ended.
        """
        job = Job(wire.Ask(secrets.token_hex(8), function, args, kwargs), alone)
        with self._lock:
            if self._closing.is_set():
                raise JobError("The app is closing.")
            self._jobs.append(job)
            self._dispatch()
        if not job.done.wait(timeout):
            self._give_up(job, timeout)
        answer = job.answer
        if answer is None or answer.error:
            raise JobError(answer.error if answer else f"The answer took longer than {in_time(timeout)}.")
        try:
            return wire.read_value(answer.value)
        except TypeError as error:
            raise JobError(f"{function}: {error}") from error

    def _give_up(self, job: Job, timeout: float) -> None:
        with self._lock:
            if job in self._jobs:
                self._jobs.remove(job)
            for child in self._children.values():
                if child.jobs.pop(job.ask.job_id, None) is None:
                    continue
                if child.doing == job.ask.job_id:
                    child.kill(Verdict(f"took longer than {in_time(timeout)}", job.ask.job_id))
                else:
                    child.send(wire.Forget(job.ask.job_id))

    # Facts

    def health(self) -> Health:
        with self._lock:
            children = list(self._children.values())
            states = [ticket.run.state for child in children for ticket in child.tickets.values()]
            queued, failing = len(self._queue), self._failed_starts
        return Health(
            workers=[
                WorkerHealth(child.process.pid, child.ready, len(child.tickets), child.memory(), child.facts)
                for child in children
            ],
            size=self.size,
            running=len(states) - states.count("paused"),
            paused=states.count("paused"),
            queued=queued,
            problem="Workers cannot be started; the server's log says why." if failing >= 3 else "",
        )

    def wait_until_ready(self, timeout: float, workers: int | None = None) -> bool:
        """Wait until so many workers (by default all) are warm; False when the time (s) was too short."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            with self._lock:
                if sum(child.ready for child in self._children.values()) >= (workers or self.size):
                    return True
            time.sleep(0.01)
        return False

    # What follows is called with the lock held, or takes it.

    def _check_room(self, session: str) -> None:
        if self._closing.is_set():
            raise Refused("The app is closing.")
        if len(self._queue) > self.limits.queue_length:
            raise Refused(f"{len(self._queue)} runs are waiting already; try again when some have ended.")
        going = sum(run.session == session for run in self.runs.live()) if session else 0
        if going >= self.limits.runs_per_session:
            raise Refused(
                f"{going} of your runs are going or waiting; this host allows {self.limits.runs_per_session} at once."
                " Stop one, or wait until one has ended."
            )

    def _dispatch(self) -> None:
        """Give waiting jobs and runs to the workers that have room for them, first come first served."""
        with self._lock:
            for job in list(self._jobs):
                self._give_job(job)
            for ticket in list(self._queue):
                self._give_run(ticket)
            self._number_queue()

    def _give_job(self, job: Job) -> None:
        child = worker_for_job(self._children.values(), job)
        if child is not None:
            self._jobs.remove(job)
            child.jobs[job.ask.job_id] = job
            child.send(job.ask)

    def _give_run(self, ticket: Ticket) -> None:
        child = worker_for_run(self._children.values(), ticket, self.limits.runs_per_worker)
        if child is None:
            return
        run = ticket.run
        self._queue.remove(ticket)
        run.queue_place = None
        child.tickets[run.id] = ticket
        child.send(wire.Start(run.id, run.config, str(run.folder), run.pace, ticket.alone, ticket.paused))
        for control in ticket.early:
            child.send(control)

    def _number_queue(self) -> None:
        for place, ticket in enumerate(self._queue, start=1):
            ticket.run.queue_place = place

    # Reports, on the reader thread of each child

    def _hear(self, child: Child, report: wire.Report) -> None:
        match report:
            case wire.Said(run_id, events):
                ticket = child.tickets.get(run_id)
                if ticket is not None:
                    ticket.run.append(events)
            case wire.Turned(run_id, state):
                with self._lock:
                    ticket = child.tickets.get(run_id)
                    if ticket is not None:
                        ticket.paused_at = time.monotonic() if state == "paused" else None
                        ticket.run.turn(state)
            case wire.Doing(task_id):
                child.doing = task_id
            case wire.Over(run_id):
                with self._lock:
                    child.tickets.pop(run_id, None)
                    self._dispatch()
            case wire.Answer(job_id):
                with self._lock:
                    job = child.jobs.pop(job_id, None)
                if job is not None:
                    job.finish(report)
            case wire.Ready(facts):
                with self._lock:
                    child.ready, child.facts, child.first_memory = True, facts, child.memory()
                    self._failed_starts = 0
                    self._start_next()
                    self._dispatch()

    def _bury(self, child: Child) -> None:
        """A worker is gone: its runs are lost and say why, and another takes its place."""
        with self._lock:
            if self._children.get(child.slot) is child:
                del self._children[child.slot]
            for ticket in child.tickets.values():
                ticket.run.append([last_words(child, ticket)])
            for job in child.jobs.values():
                job.give_up(child.why_it_ended(job.ask.job_id))
            if not child.ready:
                self._back_off()
            self._start_next()

    # The supervisor

    def _supervise(self) -> None:
        woke = measured = time.monotonic()
        tidied = -math.inf
        while not self._closing.wait(TICK):
            now = time.monotonic()
            try:
                with self._lock:
                    children = list(self._children.values())
                    if now - woke > ASLEEP:  # it was this process that did not respond
                        for child in children:
                            child.heard = now
                    end_the_stuck(children, self.limits, now)
                    stop_the_forgotten(children, self.limits, now)
                    self._start_next()
                    if now - measured > MEMORY_EVERY:
                        measured = now
                        end_the_greedy(children, self.limits)
                if now - tidied > TIDY_EVERY:
                    tidied = now
                    self.runs.prune(self.limits.kept_runs, self.limits.kept_bytes)
            except Exception:  # supervision goes on
                traceback.print_exc(file=sys.stderr)
            woke = now

    def _start_next(self) -> None:
        """One worker at a time, so that the first is ready soon and a page is served meanwhile."""
        with self._lock:
            starting = any(not child.ready for child in self._children.values())
            free = next((slot for slot in range(self.size) if slot not in self._children), None)
            if starting or free is None or self._closing.is_set() or time.monotonic() < self._start_after:
                return
            try:
                self._children[free] = Child(free, self._training, self._hear, self._bury)
            except OSError:
                traceback.print_exc(file=sys.stderr)
                self._back_off()

    def _back_off(self) -> None:
        """A worker that could not be started is tried again later and later."""
        self._failed_starts += 1
        self._start_after = time.monotonic() + min(LONGEST_BACKOFF, 0.25 * 2**self._failed_starts)


def wants_accelerator(config: RunConfig, prediction: Prediction) -> bool:
    """Whether the run would use an accelerator if there is one."""
    if config.device == "auto":
        return prediction.flops_per_step >= CPU_IS_FASTER_BELOW
    return config.device != "cpu"


def last_words(child: Child, ticket: Ticket) -> Ended:
    """How a run ended whose worker is gone."""
    run, why = ticket.run, child.why_it_ended(ticket.run.id)
    if ticket.stop_asked is not None:
        return Ended(run.step, "stopped", "It was told to stop and did not, so its worker was ended.")
    again = "" if child.verdict and child.verdict.culprit == run.id else AGAIN
    return Ended(run.step, "lost", why + again)
