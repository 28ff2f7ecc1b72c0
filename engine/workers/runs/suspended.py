"""The runs that their workers report on, and those suspended, until they are queued again or given up."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from engine.analysis.measurements import with_measurements
from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction
from engine.foundation.errors import Refused
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.events import Ended
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from engine.runs.saved_request import delete_saved, read_request, write_request
from engine.runs.store import Runs
from engine.workers import protocol
from engine.workers.processes.process import WorkerProcess
from engine.workers.processes.supervisor import Supervisor
from engine.workers.runs.presence import Presence
from engine.workers.runs.queue import CLOSING, RunQueue
from engine.workers.runs.queued import REPEATS, QueuedRun
from engine.workers.runs.room import who_makes_room

PAUSED_FOR = 30.0
"""Seconds after which a paused run is suspended."""
PAUSED_WHILE_OTHERS_WAIT = 2.0
"""The same while other runs wait for a slot."""
WAITS_FOR = 60.0
"""Seconds after which a run leaves the queue whose owner has no page open."""
LEFT = "It left the queue, since its page was closed for a minute. The same settings and seed give the same run."
CLOSED = "The app was closed before this run had ended."
WAITS = "It waits where it was last saved; Resume tries again."


class Suspended:
    """The runs that workers report on: those that go on, those that their workers have saved and released, and those that lose their
    worker or their slot."""

    def __init__(
        self,
        supervisor: Supervisor,
        runs: Runs,
        queue: RunQueue,
        predict: Callable[[RunConfig], Prediction],
        presence: Presence,
    ) -> None:
        self._supervisor, self._lock = supervisor, supervisor.lock
        self._runs, self._queue, self._predict = runs, queue, predict
        self._presence = presence
        self._left: dict[str, tuple[Run, Visitor]] = {}
        """By id, the runs suspended to make room or because their owner had left, and the owner with his network address."""

    def look_around(self, now: float) -> None:
        """Suspend the runs that stand still or make room for others, take those that wait for nobody out of the queue, and bring
        back those whose owner is here again."""
        with self._lock:
            self._presence.look(self._queue.all_runs(), now)
            for worker in self._supervisor.workers:
                self._presence.tell(worker)
            waited = self._queue.take_out(
                lambda queued: not queued.request.trial and self._presence.seconds_away(queued) > WAITS_FOR
            )
            for queued in waited:
                if queued.resumable:
                    queued.run.suspend()
                    self._left[queued.run.id] = queued.run, queued.request.visitor
            self._make_room(now)
            back = [(run, owner) for run, owner in self._left.values() if self._presence.is_here(run.owner)]
            for run, _ in back:
                del self._left[run.id]
        for queued in waited:
            if queued.resumable:
                with suppress(OSError):
                    write_request(queued.run, queued.request, left=True)
                queued.release()
            else:
                end(queued, Ended(queued.run.step, "stopped", LEFT))
        for run, owner in back:
            with suppress(Refused):
                self.bring_back(run, [protocol.Control(run.id, "resume")], owner)

    def _make_room(self, now: float) -> None:
        """Ask the workers to suspend the runs that stand still, and as many others as runs of people who are here wait: who has left makes
        room, the longest away first; then who has the most places (:func:`who_makes_room`), whose runs queue again."""
        short = [queued for queued in self._queue.waiting if not self._presence.has_left(queued)]
        longest = PAUSED_WHILE_OTHERS_WAIT if short else PAUSED_FOR
        going, able, coming = list[QueuedRun](), dict[QueuedRun, WorkerProcess](), 0
        for worker in self._supervisor.workers:
            for queued in worker.runs.values():
                coming += queued.suspending
                if not queued.suspending:
                    going.append(queued)
                if (
                    queued.suspending
                    or queued.stop_asked_at
                    or not queued.request.is_saved
                    or now < queued.suspend_after
                ):
                    continue
                if queued.paused_at is not None:
                    if now - queued.paused_at > longest:
                        _ask(worker, queued)
                        coming += 1
                elif queued.run.state == "running":
                    able[queued] = worker
        left = sorted(filter(self._presence.has_left, able), key=self._presence.seconds_away, reverse=True)
        left = left[: max(0, len(short) - coming)]
        still = [queued for queued in short[coming + len(left) :] if self._queue.lacks_only_a_place(queued)]
        for queued in (*left, *who_makes_room(still, going, [queued for queued in able if queued not in left])):
            queued.left = True
            _ask(able[queued], queued)

    def suspend_all(self) -> bool:
        """Ask the workers to suspend every run: the app closes. Returns whether there is any left to wait for."""
        with self._lock:
            ready = (worker for worker in self._supervisor.workers if worker.ready)
            left = [(worker, queued) for worker in ready for queued in worker.runs.values() if queued.request.is_saved]
            for worker, queued in left:
                if not queued.suspending:
                    _ask(worker, queued)
            return bool(left)

    def take_up(self) -> None:
        """Queue the runs that were going when their server ended; of those suspended because their owner had left, each as soon as
        he is here again."""
        for run in self._runs.going():
            if RunFolder(run.folder).read_saved_request().get("left"):
                with self._lock:
                    self._left[run.id] = run, Visitor(run.owner)
            else:
                with suppress(Refused):  # it stays suspended
                    self.bring_back(run, [protocol.Control(run.id, "resume")], PROGRAM)

    def take_update(self, worker: WorkerProcess, queued: QueuedRun, update: protocol.RunUpdate) -> None:
        """Take a worker's report on one of its runs. Called on the reader thread of the worker."""
        moves = update.state if update.state in ("running", "paused") else None
        queued.run.append(update.events, moves)
        queued.begin()
        match update.state:
            case "over":
                delete_saved(queued.run)
                self._queue.free_slot(worker, queued)
            case "saved":
                queued.saved, queued.returned = True, 0
                with suppress(OSError):
                    write_request(queued.run, queued.request)
            case "suspended":
                self._keep(worker, queued)
            case "kept":
                queued.try_later()
            case "running" | "paused" as state:
                with self._lock:
                    queued.paused_at = time.monotonic() if state == "paused" else None

    def _keep(self, worker: WorkerProcess, queued: QueuedRun) -> None:
        """A worker has saved a run's state and released it. What was asked of the run since is done now."""
        left = queued.left and not queued.asked_since
        with suppress(OSError):  # it can be resumed in this process all the same: the state is there
            write_request(queued.run, queued.request, left=left)
        queued.run.suspend()
        with self._lock:
            if left:
                self._left[queued.run.id] = queued.run, queued.request.visitor
            self._queue.free_slot(worker, queued)
        if queued.stop_asked_at is not None:
            self.give_up(queued.run)
        elif queued.asked_since:
            with suppress(Refused):  # it stays suspended, and Resume says why
                self.bring_back(queued.run, queued.asked_since, queued.request.visitor)

    def move_runs_of(self, worker: WorkerProcess, *, closing: bool) -> Callable[[], None]:
        """A worker is gone. A run that was not settled there, or was saved, waits for another worker; one that this worker was just
        reading waits for its owner, so that it ends no second one by itself. The others end with the reason. Returns what is left to do
        without the lock."""
        back, wait, left = list[QueuedRun](), list[QueuedRun](), list[QueuedRun]()
        for queued in worker.runs.values():
            why, blamed = worker.why_it_ended(queued.run.id), worker.is_blamed_on(queued)
            if blamed and queued.settled:
                queued.saved = False  # it would do the same again
            if queued.may_return and not blamed and not closing:
                queued.come_back(why, counts=worker.ready)
                back.append(queued)
            elif queued.resumable and not closing:
                queued.run.suspend(f"{why} {WAITS}")
                queued.release()
                wait.append(queued)
            else:
                left.append(queued)
        self._queue.waiting[:0] = back

        def finish() -> None:
            for queued in wait:  # it may have ended its worker: only its owner brings it back, also after a restart
                with suppress(OSError):
                    write_request(queued.run, replace(queued.request, paused=True))
            for queued in left:
                if closing:
                    keep_until_restart(queued)
                else:
                    end(queued, worker.ending_of(queued))

        return finish

    def bring_back(self, run: Run, controls: Sequence[protocol.Control], by: Visitor) -> None:
        """Queue a suspended run, and control it; where somebody was quicker, nothing happens. Raises Refused where there
        is no room for it."""
        request = read_request(run, by.address)
        prediction = with_measurements(self._predict(run.config), run.config, request.record.measurements)
        saved_step = run.step if run.events else None  # else it had not begun when the app ended
        queued = QueuedRun(run, request, prediction, self._queue.admit(request), saved_step=saved_step)
        for control in controls:
            queued.control_early(control)
        repeats = REPEATS if RunFolder(run.folder).read_saved_request().get("step", run.step) < run.step else ""
        with self._lock:
            self._left.pop(run.id, None)
            claimed = self._runs.bring_back(run, repeats)
            added = claimed and self._queue.add(queued)
        if not claimed:
            queued.release()
        elif not added:
            run.suspend()
            raise Refused(CLOSING)
        else:
            self._runs.take_over(run)
            with suppress(OSError):  # by this a later server knows that it goes on
                write_request(run, queued.request)

    def give_up(self, run: Run) -> None:
        """End a suspended run, unless it has just been brought back; its weights stay."""
        if self._runs.bring_back(run):
            run.append([Ended(run.step, "stopped")])
            delete_saved(run)


def _ask(worker: WorkerProcess, queued: QueuedRun) -> None:
    queued.suspending = True
    worker.send(protocol.Control(queued.run.id, "suspend"))


def keep_until_restart(queued: QueuedRun) -> None:
    """The app closes: the run is suspended as it was last saved, also where it had not begun; else it ends."""
    if queued.request.is_saved and (queued.saved or not queued.run.events):
        with suppress(OSError):
            write_request(queued.run, queued.request)
            queued.saved = True
    if queued.resumable:
        queued.run.suspend()
        queued.release()
    else:
        end(queued, Ended(queued.run.step, "lost", CLOSED))


def end(queued: QueuedRun, ending: Ended) -> None:
    """End a run that has lost its worker or its place in the queue."""
    queued.run.append([ending])
    delete_saved(queued.run)
    queued.release()
