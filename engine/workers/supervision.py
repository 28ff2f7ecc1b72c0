"""The supervisor's checks: they kill workers that hang or take too much memory and stop runs that were left paused."""

from __future__ import annotations

from collections.abc import Iterable

from engine.foundation.formatting import in_bytes, in_time
from engine.workers.limits import Limits
from engine.workers.process import KillReason, WorkerProcess
from engine.workers.protocol import Stop

START_SECONDS = 120.0
"""Seconds after which a worker that is not ready is killed."""


def kill_unresponsive(workers: Iterable[WorkerProcess], limits: Limits, now: float) -> None:
    """Kill workers in which a run does not yield: after the grace time where a stop was asked for, otherwise much later.

    A job has a time limit of its own, which the caller of the job keeps.
    """
    for worker in workers:
        if not worker.ready:
            if now - worker.started_at > START_SECONDS:
                worker.kill_for(KillReason("was not ready in time"))
            continue
        if worker.busy_with is None or worker.busy_with in worker.jobs:
            continue
        silent = now - worker.last_message_at
        asked = [now - queued.stop_asked_at for queued in worker.runs.values() if queued.stop_asked_at is not None]
        if min(silent, max(asked, default=0.0)) > limits.grace_seconds or silent > limits.silent_seconds:
            worker.kill_for(KillReason(f"did not come back for {in_time(silent)}", worker.busy_with))


def stop_left_paused(workers: Iterable[WorkerProcess], limits: Limits, now: float) -> None:
    """Stop runs that were left paused, to free their memory and their place."""
    for worker in workers:
        for queued in worker.runs.values():
            if queued.paused_at is not None and now - queued.paused_at > limits.paused_seconds:
                queued.paused_at = None
                worker.send(Stop(queued.run.id, f"It was left paused for {in_time(limits.paused_seconds)}."))


def kill_oversized(workers: Iterable[WorkerProcess], limits: Limits) -> None:
    """Kill workers above the memory limit, and idle workers that have grown to half of it."""
    for worker in workers:
        if not worker.ready:
            continue
        used, allowed = worker.memory(), int(limits.worker_memory)
        tasks = list(worker.runs) + list(worker.jobs)
        if tasks and used > allowed:
            culprit = tasks[0] if len(tasks) == 1 else None
            worker.kill_for(
                KillReason(f"used {in_bytes(used)} of memory, where {in_bytes(allowed)} are allowed,", culprit)
            )
        elif not tasks and used > (worker.memory_when_ready + allowed) / 2 and worker.memory_when_ready < allowed:
            worker.kill_for(KillReason("had grown"))
