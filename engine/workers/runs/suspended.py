"""The suspended runs, until they are queued again or given up; and which runs are to be suspended."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction
from engine.foundation.errors import Refused
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.events import Ended
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from engine.runs.saved_request import delete_saved, read_request, saved_step_of, write_request
from engine.runs.store import Runs
from engine.workers import protocol
from engine.workers.processes.process import WorkerProcess
from engine.workers.processes.supervisor import Supervisor
from engine.workers.runs.presence import Presence
from engine.workers.runs.queue import CLOSING, RunQueue
from engine.workers.runs.queued import REPEATS, Phase, QueuedRun, predicted
from engine.workers.runs.room import who_makes_room

PAUSED_FOR = 30.0
"""Seconds after which a paused run is suspended."""
PAUSED_WHILE_OTHERS_WAIT = 2.0
"""The same while other runs wait for a slot."""
WAITS_FOR = 60.0
"""Seconds after which a run leaves the queue whose owner has no page open."""
TRY_BACK_EVERY = 2.0
"""Seconds between two times at which the runs of those who are here again are queued, as long as there is no room for them."""
LEFT = "It left the queue, since its page was closed for a minute. The same settings and seed give the same run."


class Suspended:
    """The runs that are on no worker and wait for their owner, and the rules by which runs become such."""

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
        self._back_after = 0.0

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
                if queued.goes_on:
                    queued.run.suspend()
                    self._note_left(queued)
            self._make_room(now)
            back = [(run, owner) for run, owner in self._left.values() if self._presence.is_here(run.owner)]
            if back and now >= self._back_after:
                self._back_after = now + TRY_BACK_EVERY
            else:
                back = []
        for queued in waited:
            if queued.goes_on:
                keep_request(queued, left=True)
                queued.release()
            else:
                end(queued, Ended(queued.run.step, "stopped", LEFT))
        for run, owner in back:
            with suppress(Refused):  # there is no room: it is tried again
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
                if queued.suspending:
                    continue
                going.append(queued)
                if not queued.request.is_saved or now < queued.suspend_after:
                    continue
                if queued.phase is Phase.PAUSED and now - queued.since > longest:
                    _ask(worker, queued, Phase.SUSPENDING)
                    coming += 1
                elif queued.phase is Phase.GOING:
                    able[queued] = worker
        left = sorted(filter(self._presence.has_left, able), key=self._presence.seconds_away, reverse=True)
        left = left[: max(0, len(short) - coming)]
        still = [queued for queued in short[coming + len(left) :] if self._queue.lacks_only_a_place(queued)]
        for queued in (*left, *who_makes_room(still, going, [queued for queued in able if queued not in left])):
            _ask(able[queued], queued, Phase.LEAVING)

    def suspend_all(self) -> bool:
        """Ask the workers to suspend every run: the app closes. Returns whether there is any left to wait for; for a worker that
        the system has stopped nobody waits."""
        with self._lock:
            able = (worker for worker in self._supervisor.workers if worker.ready and not worker.process.is_stopped())
            left = [(worker, queued) for worker in able for queued in worker.runs.values() if queued.request.is_saved]
            for worker, queued in left:
                if not queued.suspending:
                    _ask(worker, queued, Phase.SUSPENDING)
            return bool(left)

    def take_up(self) -> None:
        """Queue the runs that were going when their server ended; of those suspended because their owner had left, and of those for
        which there is no room, each as soon as he is here again."""
        for run in self._runs.going():
            if not RunFolder(run.folder).read_saved_request().get("left"):
                with suppress(Refused):
                    self.bring_back(run, [protocol.Control(run.id, "resume")], PROGRAM)
                    continue
            with self._lock:
                self._left[run.id] = run, Visitor(run.owner)

    def put_away(self, worker: WorkerProcess, queued: QueuedRun) -> None:
        """A worker has saved a run's state and released it. What was asked of the run since is done now."""
        left = queued.phase is Phase.LEAVING
        keep_request(queued, left=left)
        queued.run.suspend()
        with self._lock:
            if left:
                self._note_left(queued)
            self._queue.free_slot(worker, queued)
        if queued.phase is Phase.STOPPING:
            self.give_up(queued.run)
        elif wanted := queued.wanted:
            with suppress(Refused):  # it stays suspended, and Resume says why
                self.bring_back(queued.run, wanted, queued.request.visitor)

    def _note_left(self, queued: QueuedRun) -> None:
        """Note a run that goes on as soon as its owner is here; one that he has paused, or steps by hand, waits for him to ask."""
        if not queued.request.paused:
            self._left[queued.run.id] = queued.run, queued.request.visitor

    def bring_back(self, run: Run, controls: Sequence[protocol.Control], by: Visitor) -> None:
        """Queue a suspended run, and control it; where somebody was quicker, nothing happens. Raises Refused where there
        is no room for it."""
        request, saved_step = read_request(run, by.address), saved_step_of(run)
        prediction = predicted(request, self._predict, run.config)
        request = replace(request, accelerator=prediction.device.accelerator)
        queued = QueuedRun(run, request, prediction, self._queue.admit(request), saved_step)
        for control in controls:
            queued.control(control)
        with self._lock:
            self._left.pop(run.id, None)
            claimed = self._runs.bring_back(run, REPEATS if saved_step < run.step else "")
            added = claimed and self._queue.add(queued)
        if not claimed:
            queued.release()
        elif not added:
            run.suspend()
            raise Refused(CLOSING)
        else:
            keep_request(queued)  # by this a later server knows that it goes on

    def give_up(self, run: Run) -> None:
        """End a suspended run, unless it has just been brought back; its weights stay."""
        if self._runs.bring_back(run):
            run.append([Ended(run.step, "stopped")])
            delete_saved(run)


def _ask(worker: WorkerProcess, queued: QueuedRun, phase: Phase) -> None:
    queued.become(phase)
    worker.send(protocol.Control(queued.run.id, "suspend"))


def keep_request(queued: QueuedRun, *, left: bool = False) -> None:
    """Write down what was asked of a run that has not ended. A disk that does not take it has the request from before."""
    if queued.request.is_saved and queued.run.live:
        with suppress(OSError):
            write_request(queued.run, queued.request, queued.saved_step, left=left)


def end(queued: QueuedRun, ending: Ended) -> None:
    """End a run that has lost its worker or its place in the queue."""
    queued.run.append([ending])
    delete_saved(queued.run)
    queued.release()
