"""The choice of a worker for a run or a job."""

from __future__ import annotations

from collections.abc import Iterable

from engine.workers.process import WorkerProcess
from engine.workers.queued import QueuedJob, QueuedRun


def worker_for_run(workers: Iterable[WorkerProcess], queued: QueuedRun, most: int) -> WorkerProcess | None:
    """The worker with the fewest running runs; None while every worker has ``most`` runs or one that must be alone.

    A run that needs an accelerator goes to a worker that owns one. Where there is none, any worker takes it, and the run
    itself says that the device is missing.
    """
    available = [worker for worker in workers if worker.available]
    if queued.wants_accelerator:
        available = [worker for worker in available if worker.owns_accelerator] or available
    room = [worker for worker in available if not worker.held_alone and len(worker.runs) < most]
    return min(room, key=lambda worker: (worker.load, worker.slot), default=None)


def worker_for_job(workers: Iterable[WorkerProcess], job: QueuedJob) -> WorkerProcess | None:
    """The worker that can answer soonest; None while none is ready.

    A job has its worker to itself while it computes. A job that must run alone goes to a worker without runs if there is
    one, so that no run has to wait for it.
    """

    def order(worker: WorkerProcess) -> tuple[int, int, int, int]:
        alone_first = worker.load if job.alone else 0
        return len(worker.jobs), alone_first, worker.held_alone, worker.load

    return min((worker for worker in workers if worker.available), key=order, default=None)
