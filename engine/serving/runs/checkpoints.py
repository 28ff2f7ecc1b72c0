"""The runs that become checkpoints, because of the plan, a report of their worker, or the worker's end; and their return."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction
from engine.foundation.errors import Refused
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.events import Ended, Finished
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.saved_request import delete_saved, read_request, write_request
from engine.runs.store import Runs
from engine.serving import protocol
from engine.serving.processes.process import WorkerProcess
from engine.serving.processes.supervisor import Supervisor
from engine.serving.runs.preemption import fate, plan
from engine.serving.runs.presence import Presence
from engine.serving.runs.queue import CLOSING, RunQueue
from engine.serving.runs.queued import REPEATS, QueuedRun, predicted

CLOSED = "The app was closed before this run had ended."
WAITS = "It waits for you; Resume tries again."


class Checkpoints:
    """The runs that are neither in the queue nor on a worker: each is only its folder, and it comes back by a submit. Nothing is
    written to the disk under the lock, which is the supervisor's."""

    def __init__(
        self, supervisor: Supervisor, runs: Runs, queue: RunQueue, presence: Presence,
        predict: Callable[[RunConfig], Prediction],
    ) -> None:  # fmt: skip
        self._supervisor, self._lock = supervisor, supervisor.lock
        self._runs, self._queue, self._predict, self._presence = runs, queue, predict, presence
        # by run id the owner: the run continues as soon as the owner has a page open
        self._evicted: dict[str, Visitor] = {}

    def update_presence(self, now: float) -> None:
        with self._lock:
            self._presence.update(self._queue.all_runs(), now)
            for worker in self._supervisor.workers:
                self._presence.send_audience(worker)
            waiting, on_workers = self._queue.waiting, self._queue.on_workers()
            leaving = plan(waiting, on_workers, self._presence.seconds_disconnected, self._queue.shares_worker, now)
            self._ask(leaving.workers)
            for queued in self._queue.take_out(leaving.queue.__contains__):
                self._checkpoint(queued, evicted=True)
            back = {run_id: owner for run_id, owner in self._evicted.items() if self._presence.is_present(owner.id)}
        for queued in leaving.queue:
            keep_request(queued, evicted=True)
        for run_id, owner in back.items():
            if (run := self._runs.get(run_id)) is None:  # it was deleted
                self._evicted.pop(run_id)
                continue
            with suppress(Refused):  # there is no room: it is tried again
                self.bring_back(run, [protocol.Control(run_id, "resume")], owner)

    def leave_all(self) -> bool:
        """Ask the workers for a checkpoint of every run, since the app closes. True if there is any to wait for."""
        with self._lock:
            # nobody waits for a worker that the system has stopped
            able = (worker for worker in self._supervisor.workers if worker.ready and not worker.process.is_stopped())
            going = [queued for worker in able for queued in worker.runs.values() if queued.request.is_saved]
            self._ask(queued for queued in going if not queued.leaving)
            return bool(going)

    def _ask(self, leaving: Iterable[QueuedRun]) -> None:
        for queued in leaving:
            worker, _ = self._queue.find(queued.run.id)
            if worker is not None:
                queued.leaving = True
                worker.send(protocol.Control(queued.run.id, "checkpoint"))

    def take(self, worker: WorkerProcess, update: protocol.RunUpdate) -> None:
        """Runs on the reader thread of the worker."""
        queued = worker.runs[update.run_id]
        run, before = queued.run, queued.run.step
        run.machine = worker.address
        run.append(update.events, update.state if update.state in ("running", "paused") else None)
        with self._lock:
            queued.hear(run.step - before, update.state)
        if update.state == "checkpointed":
            self._take_back(worker, queued)
        elif update.state == "over":
            if not (run.unsaved and isinstance(run.ending, Finished)):  # a later server trains what is missing
                delete_saved(run)
            self._queue.free_slot(worker, queued)

    def _take_back(self, worker: WorkerProcess, queued: QueuedRun) -> None:
        closing = self._supervisor.closing.is_set()
        with self._lock:
            evicted = self._presence.is_disconnected(queued) and not closing
        keep_request(queued, evicted=evicted)
        with self._lock:
            stopped = queued.stopped_at is not None
            again = queued.wants_to_go and not (stopped or evicted or closing)
            if not (stopped or again):
                self._checkpoint(queued, evicted=evicted)
            self._queue.free_slot(worker, queued, again=again)
        if stopped:
            end(queued, Ended(queued.run.step, "stopped"))

    def move_runs_of(self, worker: WorkerProcess, *, closing: bool) -> Callable[[], object]:
        """Carry out the :func:`fate` of each run of a worker that is gone. The lock is held. Returns the rest of the work, to be
        done without it."""
        back, later = list[QueuedRun](), list[Callable[[], None]]()
        for queued in worker.runs.values():
            why, suspect = worker.why_it_ended(queued.run.id), worker.is_suspect(queued)
            match fate(queued, blamed=worker.is_blamed_on(queued), suspect=suspect, closing=closing):
                case "queue":
                    queued.requeue(why, counts=suspect)
                    back.append(queued)
                case "checkpoint":
                    if not closing:  # only its owner brings it back, also after a restart
                        queued.request = replace(queued.request, paused=True)
                    self._checkpoint(queued, "" if closing else f"{why} {WAITS}")
                    later.append(partial(keep_request, queued))
                case "over":
                    later.append(partial(end, queued, ending_at_close(queued) if closing else worker.ending_of(queued)))
        self._queue.waiting[:0] = back
        return lambda: [do() for do in later]

    def close_queue(self) -> Callable[[], object]:
        """Make checkpoints of all runs that wait, since the app closes. The lock is held. Returns the rest of the work, to be done
        without it."""
        later = list[Callable[[], None]]()
        for queued in self._queue.take_out():
            if queued.request.is_saved:
                self._checkpoint(queued)
                later.append(partial(keep_request, queued))
            else:
                later.append(partial(end, queued, ending_at_close(queued)))
        return lambda: [do() for do in later]

    def _checkpoint(self, queued: QueuedRun, setback: str = "", *, evicted: bool = False) -> None:
        """Make a checkpoint of a run that is no longer in the queue or on a worker. The lock is held. ``evicted``: the run comes back
        as soon as its owner has a page open, unless the owner has paused it or steps it by hand."""
        queued.run.checkpoint(setback)
        queued.release()
        if evicted and not queued.request.paused:
            self._evicted[queued.run.id] = queued.request.visitor

    def take_up(self) -> None:
        """Queue the runs that were going when their server ended; those whose owner had left, and those without room, as soon as
        the owner is back."""
        for run in self._runs.going():
            if not run.files.read_saved_request().get("left"):
                with suppress(Refused):
                    self.bring_back(run, [protocol.Control(run.id, "resume")], PROGRAM, REPEATS if run.step else "")
                    continue
            with self._lock:
                self._evicted[run.id] = Visitor(run.owner)

    def bring_back(self, run: Run, controls: Iterable[protocol.Control], by: Visitor, setback: str = "") -> None:
        """Submit a run from its checkpoint, and control it; nothing happens if another thread did so already. Raises Refused if
        there is no room for it. ``setback``: a sentence on the steps that it repeats."""
        release = self._queue.admit(RunRequest(run.config, Visitor(run.owner, by.address)))
        request = read_request(run, by.address)
        prediction = predicted(request, self._predict, run.config)
        queued = QueuedRun(run, replace(request, accelerator=prediction.device.accelerator), prediction, release)
        for control in controls:
            queued.control(control)
        with self._lock:
            self._evicted.pop(run.id, None)
            claimed = self._runs.bring_back(run, setback)
            added = claimed and self._queue.add(queued)
        if not claimed:
            release()
        elif not added:
            run.checkpoint()
            raise Refused(CLOSING)
        else:
            keep_request(queued)  # by this a later server knows that it goes on

    def give_up(self, run: Run) -> None:
        if self._runs.bring_back(run):
            run.append([Ended(run.step, "stopped")])
            delete_saved(run)


def keep_request(queued: QueuedRun, *, evicted: bool = False) -> None:
    if queued.request.is_saved and queued.run.live:
        # a disk that does not take it has the earlier request
        with suppress(OSError):
            write_request(queued.run, queued.request, left=evicted)


def end(queued: QueuedRun, ending: Ended) -> None:
    queued.run.append([ending])
    delete_saved(queued.run)
    queued.release()


def ending_at_close(queued: QueuedRun) -> Ended:
    return Ended(queued.run.step, "lost", CLOSED)
