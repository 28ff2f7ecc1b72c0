"""The worker processes and what waits for them: who takes what, who has died, who has to go.

Threads only, so it works inside any server: one reader and one writer a worker, and one supervisor. A run's events are
appended by the reader of its worker alone, so their order is the worker's.
"""

from __future__ import annotations

import math
import sys
import time
import traceback
from threading import Event as Signal
from threading import RLock, Thread

from engine.foundation.formatting import in_time
from engine.runs.events import Ended
from engine.runs.store import Runs
from engine.workers import protocol
from engine.workers.health import Health, WorkerHealth
from engine.workers.limits import Limits
from engine.workers.placement import worker_for_job, worker_for_run
from engine.workers.process import Child, Job, Ticket, Verdict
from engine.workers.supervision import end_the_greedy, end_the_stuck, stop_the_forgotten

TICK = 0.1
"""Seconds between two rounds of the supervisor."""
MEMORY_EVERY = 1.0
TIDY_EVERY = 600.0
ASLEEP = 5.0
"""A round of the supervisor that comes so late means that the computer slept, not the workers."""
LONGEST_BACKOFF = 30.0
AGAIN = " The same settings and seed give the same run again."


class Crew:
    """All methods may be called from any thread; ``lock`` holds several calls together."""

    def __init__(self, runs: Runs, limits: Limits, size: int, training: str) -> None:
        self.size = size
        self.lock = RLock()
        self.closing = Signal()
        self._runs, self._limits, self._training = runs, limits, training
        self._children: dict[int, Child] = {}  # by slot
        self._queue: list[Ticket] = []
        self._jobs: list[Job] = []  # those that wait for a worker
        self._failed_starts = 0
        self._start_after = 0.0
        self._supervisor = Thread(target=self._supervise, name="pool-supervisor", daemon=True)

    def start(self) -> bool:
        """False where they were started, or closed, before."""
        with self.lock:
            if self._supervisor.ident or self.closing.is_set():
                return False
            self._supervisor.start()
            return True

    def close(self) -> None:
        with self.lock:
            self.closing.set()
            children = list(self._children.values())
            for ticket in [*self._queue, *(ticket for child in children for ticket in child.tickets.values())]:
                ticket.run.append([Ended(ticket.run.step, "lost", "The app was closed before this run had ended.")])
            for job in [*self._jobs, *(job for child in children for job in child.jobs.values())]:
                job.give_up("The app is closing.")
            self._queue.clear()
            self._jobs.clear()
        if self._supervisor.ident:
            self._supervisor.join()
        for child in children:
            child.ask_to_leave()
        for child in children:
            child.join(2.0)

    # Runs

    @property
    def queued(self) -> int:
        return len(self._queue)

    def add_run(self, ticket: Ticket) -> None:
        with self.lock:
            self._queue.append(ticket)
            self._dispatch()

    def tell(self, control: protocol.Control) -> None:
        """Say it to the run's worker, or as soon as it has one. A run that has ended does not hear it."""
        with self.lock:
            for child in self._children.values():
                if control.run_id in child.tickets:
                    child.send(control)
            for ticket in self._queue:
                if ticket.run.id == control.run_id:
                    ticket.hear_early(control)

    def stop_run(self, run_id: str) -> None:
        with self.lock:
            for ticket in [ticket for ticket in self._queue if ticket.run.id == run_id]:
                self._queue.remove(ticket)
                ticket.run.queue_place = None
                ticket.run.append([Ended(0, "stopped", "It was stopped before it started.")])
                self._number_queue()
            for child in self._children.values():
                if run_id in child.tickets:
                    ticket = child.tickets[run_id]
                    ticket.stop_asked = ticket.stop_asked or time.monotonic()
            self.tell(protocol.Stop(run_id))

    # Jobs

    def add_job(self, job: Job) -> None:
        with self.lock:
            if self.closing.is_set():
                job.give_up("The app is closing.")
                return
            self._jobs.append(job)
            self._dispatch()

    def give_up_job(self, job: Job, timeout: float) -> None:
        """Nobody waits any more. A worker that is at it is ended: it cannot be interrupted."""
        job_id = job.ask.job_id
        with self.lock:
            if job in self._jobs:
                self._jobs.remove(job)
            for child in self._children.values():
                if child.jobs.pop(job_id, None) is None:
                    continue
                if child.doing == job_id:
                    child.kill(Verdict(f"took longer than {in_time(timeout)}", job_id))
                else:
                    child.send(protocol.Forget(job_id))

    # Facts

    def health(self) -> Health:
        with self.lock:
            children = list(self._children.values())
            states = [ticket.run.state for child in children for ticket in child.tickets.values()]
            queued, failing = self.queued, self._failed_starts >= 3
        return Health(
            workers=[
                WorkerHealth(child.process.pid, child.ready, len(child.tickets), child.memory(), child.facts)
                for child in children
            ],
            size=self.size,
            running=len(states) - states.count("paused"),
            paused=states.count("paused"),
            queued=queued,
            problem="Workers cannot be started; the server's log says why." if failing else "",
        )

    # Giving out

    def _dispatch(self) -> None:
        """Give waiting jobs and runs to the workers that have room for them, first come first served."""
        with self.lock:
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
        child = worker_for_run(self._children.values(), ticket, self._limits.runs_per_worker)
        if child is None:
            return
        run = ticket.run
        self._queue.remove(ticket)
        run.queue_place = None
        child.tickets[run.id] = ticket
        child.send(
            protocol.Start(run.id, run.config, str(run.folder), run.pace, ticket.alone, ticket.paused, ticket.watch)
        )
        for _ in range(ticket.early_steps):
            child.send(protocol.Step(run.id))

    def _number_queue(self) -> None:
        for place, ticket in enumerate(self._queue, start=1):
            ticket.run.queue_place = place

    # Reports, on the reader thread of each child

    def _hear(self, child: Child, report: protocol.Report) -> None:
        match report:
            case protocol.Said(run_id, events):
                ticket = child.tickets.get(run_id)
                if ticket is not None:
                    ticket.run.append(events)
            case protocol.Turned(run_id, state):
                with self.lock:
                    ticket = child.tickets.get(run_id)
                    if ticket is not None:
                        ticket.paused_at = time.monotonic() if state == "paused" else None
                        ticket.run.turn(state)
            case protocol.Doing(task_id):
                child.doing = task_id
            case protocol.Over(run_id):
                with self.lock:
                    child.tickets.pop(run_id, None)
                    self._dispatch()
            case protocol.Answer(job_id):
                with self.lock:
                    job = child.jobs.pop(job_id, None)
                if job is not None:
                    job.finish(report)
            case protocol.Ready(facts):
                with self.lock:
                    child.ready, child.facts, child.first_memory = True, facts, child.memory()
                    self._failed_starts = 0
                    self._start_next()
                    self._dispatch()

    def _bury(self, child: Child) -> None:
        """A worker is gone: its runs are lost and say why, and another takes its place."""
        with self.lock:
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
        while not self.closing.wait(TICK):
            now = time.monotonic()
            try:
                with self.lock:
                    children = list(self._children.values())
                    if now - woke > ASLEEP:  # it was this process that did not respond
                        for child in children:
                            child.heard = now
                    end_the_stuck(children, self._limits, now)
                    stop_the_forgotten(children, self._limits, now)
                    self._start_next()
                    if now - measured > MEMORY_EVERY:
                        measured = now
                        end_the_greedy(children, self._limits)
                if now - tidied > TIDY_EVERY:
                    tidied = now
                    self._runs.prune(self._limits.kept_runs, self._limits.kept_bytes)
            except Exception:  # supervision goes on
                traceback.print_exc(file=sys.stderr)
            woke = now

    def _start_next(self) -> None:
        """One worker at a time, so that the first is ready soon and a page is served meanwhile."""
        with self.lock:
            starting = any(not child.ready for child in self._children.values())
            free = next((slot for slot in range(self.size) if slot not in self._children), None)
            if starting or free is None or self.closing.is_set() or time.monotonic() < self._start_after:
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


def last_words(child: Child, ticket: Ticket) -> Ended:
    """How a run ended whose worker is gone."""
    run, why = ticket.run, child.why_it_ended(ticket.run.id)
    if ticket.stop_asked is not None:
        return Ended(run.step, "stopped", "It was told to stop and did not, so its worker was ended.")
    again = "" if child.verdict and child.verdict.culprit == run.id else AGAIN
    return Ended(run.step, "lost", why + again)
