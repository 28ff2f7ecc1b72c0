"""The pool's side of one worker process, on whichever machine: the runs and jobs on it, the one that it computes, and the reason
of its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from engine.estimate.device import DeviceFacts
from engine.foundation.log import LOG
from engine.runs.events import Ended
from engine.serving import protocol
from engine.serving.host import LATER_LIBRARIES, WORKER_BYTES
from engine.serving.processes.machines import Machine
from engine.serving.runs.queued import QueuedJob, QueuedRun


@dataclass(frozen=True)
class Slot:
    role: protocol.Role
    number: int = 0
    """Counted from 0 in each role on each machine. The worker with the number i owns the accelerator i of its machine."""
    run_id: str = ""
    """The run of an ``own`` process, else empty."""
    machine: str = ""
    """The name of the machine; empty for the app's own."""

    def __str__(self) -> str:
        named = {
            "runs": f"Worker {self.number}",
            "jobs": f"Job process {self.number}",
            "own": f"Process of run {self.run_id}",
        }
        return f"{named[self.role]} on {self.machine}" if self.machine else named[self.role]


SAME_RUN_AGAIN = " The same settings and seed give the same run again."


@dataclass(frozen=True)
class KillReason:
    """Why the pool killed a worker process."""

    what: str
    """The worker's fault, to complete the sentence "it ... and was ended"."""
    culprit: str | None = None
    """The id of the run or job that did it; None when it was the worker as a whole."""


class WorkerProcess:
    """One worker process. ``on_report`` is called on a thread of the process's own, ``on_death`` last of all."""

    def __init__(
        self,
        slot: Slot,
        machine: Machine,
        training: str,
        allowed: int,
        on_report: Callable[[WorkerProcess, protocol.Report], None],
        on_death: Callable[[WorkerProcess], None],
    ) -> None:
        """``allowed``: the bytes of memory that the process may take. Raises OSError where it cannot be started."""
        self.slot, self.allowed = slot, allowed
        self.role, self.machine, self.most_runs = slot.role, slot.machine, machine.most_runs
        self.ready = False
        self.retired = False
        """Whether the process was ended because nobody needs it any more."""
        self.facts = DeviceFacts()
        self.runs: dict[str, QueuedRun] = {}
        self.audience: dict[str, protocol.Followers] = {}
        """For whom its runs are trained, as it was last told."""
        self.job: QueuedJob | None = None
        """The job that a job process computes."""
        self.busy_with: str | None = None
        """The id of the run or job that the worker computes now."""
        self.started_at = self.idle_since = time.monotonic()
        self.pinged_at = 0.0
        """The time of the last question whether the worker is still there."""
        self.memory = self.memory_when_ready = 0
        """Its own memory in bytes when it was last looked at, and when the worker became ready."""
        self.accelerator_room = 0
        """The bytes that runs may take of the GPU that the worker owns; 0 where it owns none with memory of its own."""
        self.libraries = 0
        """The bytes of the host's memory that the GPU's libraries take in it. They do not count as those of its runs."""
        self.kill_reason: KillReason | None = None
        """The reason why the pool killed this worker; None when it did not."""
        self.process = machine.launch(
            f"worker-{slot.role}-{slot.run_id or slot.number}",
            [training, slot.role, str(slot.number), str(allowed)],
            partial(on_report, self),
            partial(on_death, self),
        )  # fmt: skip
        self.send = self.process.send

    @property
    def pid(self) -> int:
        """The process's number; 0 until it is known."""
        return self.process.pid

    @property
    def address(self) -> str:
        """Where on a cluster it is, such as tls://10.0.0.7:40123; empty on the app's own machine."""
        return self.process.address

    @property
    def available(self) -> bool:
        """Whether the worker takes runs and jobs."""
        return self.ready and not self.retired and self.kill_reason is None

    @property
    def load(self) -> int:
        """The number of runs on the worker that are not paused, and for which somebody waits."""
        left = {run_id for run_id, followers in self.audience.items() if not followers.here}
        return sum(run_id not in left and queued.run.state != "paused" for run_id, queued in self.runs.items())

    @property
    def owns_accelerator(self) -> bool:
        return self.role == "runs" and self.slot.number < self.facts.get("accelerators", 0)

    @property
    def accelerator(self) -> str:
        """The name of the accelerator that it owns; empty for none."""
        named = self.facts.get("accelerator_name") or self.facts.get("accelerator") or ""
        return named if self.owns_accelerator else ""

    def become_ready(self, facts: DeviceFacts, room: int) -> None:
        """The worker takes runs or jobs from now on. ``room``: the bytes that runs may take of its GPU."""
        self.ready, self.facts, self.accelerator_room = True, facts, room
        self.libraries = max(0, self.memory_when_ready - WORKER_BYTES) + LATER_LIBRARIES if room else 0

    def retire(self) -> None:
        """End the process because nobody needs it any more. Nothing is on it."""
        self.retired = True
        self.process.kill()

    def begin_task(self, task_id: str | None) -> None:
        """The worker has reported what it computes from now on."""
        self.busy_with = task_id
        if self.job is not None and self.job.ask.job_id == task_id:
            self.job.begun_at = time.monotonic()

    def kill_for(self, reason: KillReason) -> None:
        """Kill the process; the first reason given is the one that its runs and jobs report."""
        if self.kill_reason is None:
            by = f"run or job {reason.culprit}" if reason.culprit else "it"
            LOG.warning("%s (process %d) is killed: %s %s.", self.slot, self.pid, by, reason.what.rstrip(","))
        self.kill_reason = self.kill_reason or reason
        self.process.kill()

    def is_blamed_on(self, queued: QueuedRun) -> bool:
        """Whether the pool killed the worker for this one of its runs."""
        return self.kill_reason is not None and self.kill_reason.culprit == queued.run.id

    def is_suspect(self, queued: QueuedRun) -> bool:
        """Whether this one of the worker's runs may be what ended it: the one that it was at, or any where it was at none."""
        return self.ready and (self.busy_with == queued.run.id or self.busy_with not in self.runs)

    def why_it_ended(self, task_id: str) -> str:
        """One sentence for one of the worker's runs or jobs on why the process ended. Call it after the end."""
        if self.kill_reason is None:
            return f"Its worker process ended unexpectedly ({self.process.how_it_ended()})."
        if self.kill_reason.culprit is None:
            return f"Its worker {self.kill_reason.what} and was ended."
        if self.kill_reason.culprit == task_id:
            return f"It {self.kill_reason.what} and was ended."
        return f"Its worker was ended because something else on it {self.kill_reason.what}."

    def ending_of(self, queued: QueuedRun) -> Ended:
        """The ending of one of the worker's runs. Call it after the process has ended."""
        run = queued.run
        if queued.stopped_at is not None and queued.known_step is None:
            return queued.stopped_early
        if queued.stopped_at is not None:
            return Ended(run.step, "stopped", "It did not stop when asked, so its worker was ended.")
        return Ended(
            run.step, "lost", self.why_it_ended(run.id) + ("" if self.is_blamed_on(queued) else SAME_RUN_AGAIN)
        )
