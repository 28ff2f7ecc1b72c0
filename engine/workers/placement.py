"""The choice of a worker for a run or a job."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from engine.estimate.prediction import Prediction
from engine.workers.host import WORKER_BYTES
from engine.workers.limits import Limits
from engine.workers.process import WorkerProcess
from engine.workers.queued import QueuedJob, QueuedRun

LARGE_SHARE = 0.5
"""The share of a worker's room for runs above which a run is large."""
SMALL_BOUND = 64 * 2**20
"""The bound of a run without a formula, in bytes, up to which it may share a worker."""


def worker_for_run(
    workers: Iterable[WorkerProcess], queued: QueuedRun, most: int, memory: float = inf
) -> WorkerProcess | None:
    """The worker with the fewest running runs; None while every worker has ``most`` runs, too little room in its ``memory``
    bytes, or a run that must be alone.

    A run that needs an accelerator goes to a worker that owns one. Where there is none, any worker takes it, and the run
    itself says that the device is missing.
    """
    available = [worker for worker in workers if worker.available]
    if queued.wants_accelerator:
        available = [worker for worker in available if worker.owns_accelerator] or available
    room = [
        worker
        for worker in available
        if not worker.held_alone
        and len(worker.runs) < most
        and has_room((run.prediction.peak for run in worker.runs.values()), queued.prediction.peak, memory)
    ]
    return min(room, key=lambda worker: (worker.load, worker.slot), default=None)


def has_room(peaks: Iterable[int], peak: int, memory: float, base: int = WORKER_BYTES) -> bool:
    """Whether a run of this peak fits beside those of a worker that may take ``memory`` bytes; ``base`` is what the worker takes
    without any run."""
    return base + sum(peaks) + peak <= memory


def needs_own_process(prediction: Prediction, limits: Limits) -> bool:
    """Whether a run gets a process of its own, with the operating system's limit: where it is large for a worker, or where its
    peak is only a bound and not small. Then it alone fails if it takes more than it should."""
    room = limits.worker_memory - WORKER_BYTES
    return prediction.peak > LARGE_SHARE * room or (prediction.memory.saved is None and prediction.peak > SMALL_BOUND)


def worker_for_job(workers: Iterable[WorkerProcess], job: QueuedJob) -> WorkerProcess | None:
    """The worker that can answer soonest; None while none is ready.

    A job has its worker to itself while it computes. A job that must run alone goes to a worker without runs if there is
    one, so that no run has to wait for it.
    """

    def order(worker: WorkerProcess) -> tuple[int, int, int, int]:
        alone_first = worker.load if job.alone else 0
        return len(worker.jobs), alone_first, worker.held_alone, worker.load

    return min((worker for worker in workers if worker.available), key=order, default=None)
