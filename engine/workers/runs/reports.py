"""The reports of workers on their runs, and the next phase of a run whose worker ends or whose app closes."""

from collections.abc import Callable
from dataclasses import replace
from threading import RLock

from engine.runs.events import Ended, Finished
from engine.runs.saved_request import delete_saved
from engine.workers import protocol
from engine.workers.processes.process import WorkerProcess
from engine.workers.runs.queue import RunQueue
from engine.workers.runs.queued import Phase, QueuedRun
from engine.workers.runs.suspended import Suspended, end, keep_request

MOST_RETURNS = 3
"""How often a run comes back to the queue that may have ended its worker, without having been saved meanwhile."""
CLOSED = "The app was closed before this run had ended."
WAITS = "It waits for you; Resume tries again."


class Reports:
    """The runs on workers, as their workers report on them."""

    def __init__(self, lock: RLock, queue: RunQueue, suspended: Suspended) -> None:
        """``lock``: the supervisor's."""
        self._lock, self._queue, self._suspended = lock, queue, suspended

    def take(self, worker: WorkerProcess, update: protocol.RunUpdate) -> None:
        """Take a worker's report on one of its runs. Called on the reader thread of the worker."""
        queued = worker.runs[update.run_id]
        run, before = queued.run, queued.run.step
        run.machine = worker.address
        run.append(update.events, update.state if update.state in ("running", "paused") else None)
        with self._lock:
            queued.begin()
            queued.take_steps(run.step - before)
            if update.saved_step is not None:
                queued.saved_step, queued.returned = update.saved_step, 0
            if update.state in ("running", "paused"):
                queued.move(update.state)
            elif update.state == "kept":
                queued.try_later()
        if update.state == "saved":
            keep_request(queued)
        elif update.state == "suspended":
            self._suspended.put_away(worker, queued)
        elif update.state == "over":
            if not (
                run.unsaved and isinstance(run.ending, Finished)
            ):  # else a later server trains what is missing again
                delete_saved(run)
            self._queue.free_slot(worker, queued)

    def move_runs_of(self, worker: WorkerProcess, *, closing: bool) -> Callable[[], None]:
        """A worker is gone, and the lock is held. A run that was stopped or has ended the worker is over. Each other one waits for
        another worker; one that may have ended too many waits for its owner, as all do when the app closes. Returns what is left to do
        without the lock."""
        back, wait, over = list[QueuedRun](), list[QueuedRun](), list[QueuedRun]()
        for queued in worker.runs.values():
            why, suspect = worker.why_it_ended(queued.run.id), worker.is_suspect(queued)
            if queued.phase is Phase.STOPPING or worker.is_blamed_on(queued):
                over.append(queued)
            elif not closing and (queued.returned < MOST_RETURNS or not suspect):
                queued.come_back(why, counts=suspect)
                back.append(queued)
            elif queued.request.is_saved:
                if not closing:  # only its owner brings it back, also after a restart
                    queued.request = replace(queued.request, paused=True)
                queued.run.suspend("" if closing else f"{why} {WAITS}")
                queued.release()
                wait.append(queued)
            else:
                over.append(queued)
        self._queue.waiting[:0] = back

        def finish() -> None:
            for queued in wait:
                keep_request(queued)
            for queued in over:
                end(queued, closed(queued) if closing else worker.ending_of(queued))

        return finish


def keep_until_restart(queued: QueuedRun) -> None:
    """The app closes while a run waits: it is suspended, and goes on after the next start; else it ends."""
    if queued.request.is_saved:
        keep_request(queued)
        queued.run.suspend()
        queued.release()
    else:
        end(queued, closed(queued))


def closed(queued: QueuedRun) -> Ended:
    """The ending of a run that no later server goes on with."""
    return Ended(queued.run.step, "lost", CLOSED)
