"""The pool's side of one worker process, on any machine: its runs and jobs, the one that it computes, and the reason of its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from engine.estimate.device import DeviceFacts
from engine.foundation.log import LOG
from engine.runs.events import Ended
from engine.serving import protocol
from engine.serving.host import LATER_LIBRARY_BYTES, WORKER_BYTES
from engine.serving.processes.machines import Machine
from engine.serving.runs.queued import QueuedJob, QueuedRun


@dataclass(frozen=True)
class Slot:
    role: protocol.Role
    number: int = 0  # from 0 in each role on each machine; worker i owns accelerator i of its machine
    run_id: str = ""  # of a dedicated process
    machine: str = ""  # empty for the app's own

    def __str__(self) -> str:
        named = {
            "runs": f"Worker {self.number}",
            "jobs": f"Job process {self.number}",
            "dedicated": f"Process of run {self.run_id}",
        }
        return f"{named[self.role]} on {self.machine}" if self.machine else named[self.role]


REPEATABLE = " The same settings and seed give the same run again."


@dataclass(frozen=True)
class KillReason:
    clause: str  # completes the sentence "it ... and was ended"
    culprit: str | None = None  # the run or job that did it; None for the worker as a whole


class WorkerProcess:
    """``on_report`` is called on the process's reader thread, ``on_death`` last of all."""

    def __init__(
        self,
        slot: Slot,
        machine: Machine,
        training: str,
        allowed: int,
        on_report: Callable[[WorkerProcess, protocol.Report], None],
        on_death: Callable[[WorkerProcess], None],
    ) -> None:
        """``allowed``: bytes of memory that the process may take. Raises OSError if it cannot be started."""
        self.slot, self.allowed = slot, allowed
        self.role, self.machine, self.most_runs = slot.role, slot.machine, machine.most_runs
        self.ready = False
        self.retired = False  # ended because nobody needs it any more
        self.facts = DeviceFacts()
        self.runs: dict[str, QueuedRun] = {}
        self.audience: dict[str, protocol.Followers] = {}  # as last sent
        self.job: QueuedJob | None = None
        self.busy_with: str | None = None
        self.started_at = self.idle_since = time.monotonic()
        self.pinged_at = 0.0  # the last ping
        # unshared bytes at the last check, and when the worker became ready
        self.memory = self.memory_when_ready = 0
        # bytes that runs may take of the GPU that the worker owns; 0 if it owns none with separate memory
        self.accelerator_room = 0
        # bytes of the host's memory for the GPU's libraries; they do not count as memory of its runs
        self.libraries = 0
        self.kill_reason: KillReason | None = None
        self.process = machine.launch(
            f"worker-{slot.role}-{slot.run_id or slot.number}",
            [training, slot.role, str(slot.number), str(allowed)],
            partial(on_report, self),
            partial(on_death, self),
        )  # fmt: skip
        self.send = self.process.send

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def address(self) -> str:
        return self.process.address

    @property
    def available(self) -> bool:
        return self.ready and not self.retired and self.kill_reason is None

    @property
    def load(self) -> int:
        unwatched = {run_id for run_id, followers in self.audience.items() if not followers.present}
        return sum(run_id not in unwatched and queued.run.state != "paused" for run_id, queued in self.runs.items())

    @property
    def owns_accelerator(self) -> bool:
        return self.role == "runs" and self.slot.number < self.facts.get("accelerators", 0)

    @property
    def accelerator(self) -> str:
        named = self.facts.get("accelerator_name") or self.facts.get("accelerator") or ""
        return named if self.owns_accelerator else ""

    def become_ready(self, facts: DeviceFacts, room: int) -> None:
        """Take runs or jobs from now on. ``room``: bytes that runs may take of its GPU."""
        self.ready, self.facts, self.accelerator_room = True, facts, room
        self.libraries = max(0, self.memory_when_ready - WORKER_BYTES) + LATER_LIBRARY_BYTES if room else 0

    def retire(self) -> None:
        self.retired = True
        self.process.kill()

    def begin_task(self, task_id: str | None) -> None:
        self.busy_with = task_id
        if self.job is not None and self.job.ask.job_id == task_id:
            self.job.begun_at = time.monotonic()

    def kill_for(self, reason: KillReason) -> None:
        if self.kill_reason is None:
            by = f"run or job {reason.culprit}" if reason.culprit else "it"
            LOG.warning("%s (process %d) is killed: %s %s.", self.slot, self.pid, by, reason.clause.rstrip(","))
        self.kill_reason = self.kill_reason or reason
        self.process.kill()

    def is_blamed_on(self, queued: QueuedRun) -> bool:
        return self.kill_reason is not None and self.kill_reason.culprit == queued.run.id

    def is_suspect(self, queued: QueuedRun) -> bool:
        """True if this run may have ended the worker: the one that it computed, or any if it computed none."""
        return self.ready and (self.busy_with == queued.run.id or self.busy_with not in self.runs)

    def why_it_ended(self, task_id: str) -> str:
        """One sentence for one of the worker's runs or jobs on why the process ended. Call it after the end."""
        if self.kill_reason is None:
            return f"Its worker process ended unexpectedly ({self.process.end_in_words()})."
        if self.kill_reason.culprit is None:
            return f"Its worker {self.kill_reason.clause} and was ended."
        if self.kill_reason.culprit == task_id:
            return f"It {self.kill_reason.clause} and was ended."
        return f"Its worker was ended because something else on it {self.kill_reason.clause}."

    def ending_of(self, queued: QueuedRun) -> Ended:
        """Call it after the process has ended."""
        run = queued.run
        if queued.stopped_at is not None and queued.known_step is None:
            return queued.stopped_early
        if queued.stopped_at is not None:
            return Ended(run.step, "stopped", "It did not stop when asked, so its worker was ended.")
        return Ended(run.step, "lost", self.why_it_ended(run.id) + ("" if self.is_blamed_on(queued) else REPEATABLE))
