"""The supervisor's checks: they kill workers that hang or take too much memory and stop runs that were left paused."""

from __future__ import annotations

from collections.abc import Iterable

from engine.foundation.formatting import in_bytes, in_time
from engine.workers.limits import Limits
from engine.workers.process import KillReason, WorkerProcess
from engine.workers.protocol import Ping, Stop

START_SECONDS = 120.0
"""Seconds after which a worker that is not ready is killed."""
PING_EVERY = 5.0
"""Seconds of silence after which an idle worker is asked whether it is still there."""
UNWANTED = 2.0
"""Seconds that a process may go on with a job for which nobody waits any more: most are nearly done, and a new process costs more."""


def kill_unresponsive(workers: Iterable[WorkerProcess], limits: Limits, now: float) -> None:
    """Kill workers in which a run does not yield: after the grace time where a stop was asked for, otherwise much later.
    Kill idle workers that do not answer, and those that compute a job for which nobody waits any more.
    """
    for worker in workers:
        if not worker.ready:
            if now - worker.started_at > START_SECONDS:
                worker.kill_for(KillReason("was not ready in time"))
            continue
        if worker.job is not None and worker.job.begun:
            if not worker.job.callers and now - worker.job.sent_at > UNWANTED:
                worker.kill_for(KillReason("took too long", worker.job.ask.job_id))
            continue
        if worker.busy_with is None:
            _ping(worker, limits, now)
            continue
        silent = now - worker.process.last_message_at
        asked = [now - queued.stop_asked_at for queued in worker.runs.values() if queued.stop_asked_at is not None]
        if min(silent, max(asked, default=0.0)) > limits.grace_seconds or silent > limits.silent_seconds:
            worker.kill_for(KillReason(f"did not come back for {in_time(silent)}", worker.busy_with))


def _ping(worker: WorkerProcess, limits: Limits, now: float) -> None:
    """Ask an idle worker whether it is still there; kill it where it has not answered for the grace time."""
    if worker.pinged_at > worker.process.last_message_at:
        if now - worker.pinged_at > limits.grace_seconds:
            worker.kill_for(KillReason(f"did not answer for {in_time(now - worker.pinged_at)}"))
    elif now - worker.process.last_message_at > PING_EVERY:
        worker.pinged_at = now
        worker.send(Ping())


def stop_left_paused(workers: Iterable[WorkerProcess], limits: Limits, now: float) -> None:
    """Stop runs that were left paused, to free their memory and their place."""
    for worker in workers:
        for queued in worker.runs.values():
            if queued.paused_at is not None and now - queued.paused_at > limits.paused_seconds:
                queued.paused_at = None
                worker.send(Stop(queued.run.id, f"It was left paused for {in_time(limits.paused_seconds)}."))


def kill_oversized(workers: Iterable[WorkerProcess]) -> None:
    """Kill workers above their memory limit, and idle workers that have grown to half of it.

    The first is for what the operating system's own limit does not count (:mod:`engine.workers.memory_limit`).
    """
    for worker in workers:
        if not worker.ready:
            continue
        used, allowed = worker.process.memory(), worker.allowed
        tasks = [*worker.runs, *([worker.job.ask.job_id] if worker.job else [])]
        if tasks and used > allowed:
            culprit = tasks[0] if len(tasks) == 1 else None
            worker.kill_for(
                KillReason(f"used {in_bytes(used)} of memory, where {in_bytes(allowed)} are allowed,", culprit)
            )
        elif not tasks and used > (worker.memory_when_ready + allowed) / 2 and worker.memory_when_ready < allowed:
            worker.kill_for(KillReason("had grown"))
