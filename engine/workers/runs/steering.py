"""The steering of runs: pause, step, resume, pace and stop, each only by the run's owner or the program itself."""

from __future__ import annotations

import time

from engine.foundation.visitor import Visitor
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers import protocol
from engine.workers.errors import Refused
from engine.workers.processes.supervisor import Supervisor
from engine.workers.runs.away import Away, end
from engine.workers.runs.queue import RunQueue
from engine.workers.runs.saved_request import set_pace

NOT_YOURS = (
    "This run was started by somebody else. You can watch it; Train starts one of your own with the same settings."
)
ELSEWHERE = "This run goes on at another server that shares the data folder; it can be steered there only."


class Steering:
    """What a visitor asks of a run that was submitted. A run is on a worker, in the queue, or put away."""

    def __init__(self, supervisor: Supervisor, runs: Runs, queue: RunQueue, away: Away) -> None:
        self._lock, self._runs, self._queue, self._away = supervisor.lock, runs, queue, away

    def control(self, control: protocol.Control, by: Visitor) -> None:
        """Pause, step or resume a run, or set its pace. Raises Refused where the run is not the visitor's, or where it is put
        away and there is no room for it now."""
        run = self._find(control.run_id, by)
        if self._send(control) or run is None or not run.away:
            return
        if isinstance(control, protocol.Resume | protocol.Step):
            self._away.bring_back(run, [control], by)
        elif isinstance(control, protocol.SetPace):
            set_pace(run, control.steps_per_second)

    def stop(self, run_id: str, by: Visitor) -> None:
        """End a run after the step in progress and keep its weights. A run that does not yield is ended by force. Raises
        Refused where the run is not the visitor's."""
        run = self._find(run_id, by)
        with self._lock:
            waiting = self._queue.take_out(lambda queued: queued.run.id == run_id)
            worker = self._queue.worker_of(run_id)
            for queued in [*waiting, *([worker.runs[run_id]] if worker else [])]:
                queued.stop_asked_at = queued.stop_asked_at or time.monotonic()
                queued.release()  # who stops a run may start another one in its place at once
            if worker is not None:
                worker.send(protocol.Stop(run_id))
        for queued in waiting:
            end(queued, queued.stopped_early)
        if not waiting and worker is None and run is not None and run.away:
            self._away.give_up(run)

    def _find(self, run_id: str, by: Visitor) -> Run | None:
        """The run of that id. Raises Refused where the visitor may not steer it from here."""
        run = self._runs.get(run_id)
        if run is not None and not by.may_steer(run.owner):
            raise Refused(NOT_YOURS)
        if run is not None and run.elsewhere:
            raise Refused(ELSEWHERE)
        return run

    def _send(self, control: protocol.Control) -> bool:
        """Send a control to the run's worker, or keep it until the run has one. False where the run is neither on a worker nor in
        the queue."""
        with self._lock:
            if (worker := self._queue.worker_of(control.run_id)) is not None:
                worker.runs[control.run_id].control_on_worker(control)
                worker.send(control)
                return True
            if (queued := self._queue.find(control.run_id)) is not None:
                queued.control_early(control)
            return queued is not None
