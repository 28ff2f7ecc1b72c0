"""The memory that runs take: of the accelerator if they use one, of the host's for the rest; and the workers that have room for
them.

Like the choice of the device, this needs only a worker's report about itself, and no torch.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from engine.estimate.prediction import Prediction
from engine.serving.host import WORKER_BYTES
from engine.serving.limits import Accelerator
from engine.serving.processes.process import WorkerProcess
from engine.serving.processes.supervisor import STARTS_WITHIN, Supervisor
from engine.serving.runs.queued import QueuedRun


def needs_accelerator(queued: QueuedRun, workers: Iterable[WorkerProcess]) -> bool:
    """True if only a worker that owns an accelerator may take a run: one that would use it, if any worker has found one. While its
    owner is restarted, the run waits for it."""
    return queued.prediction.device.accelerator and any(worker.facts.get("accelerators") for worker in workers)


def accelerator_for(
    prediction: Prediction, supervisor: Supervisor, wait_until_ready: Callable[[float, int | None], object]
) -> Accelerator | None:
    """The accelerator that a run would use, the one with the most room; None if it would use the CPU, or no worker owns one. For a
    run too large for the host's memory it waits until a worker has reported one, and then for the one that owns it."""
    if not prediction.device.accelerator:
        return None
    if prediction.peak > supervisor.limits.memory and supervisor.workers:
        wait_until_ready(STARTS_WITHIN, 1)  # any worker knows whether there is an accelerator
        if any(worker.facts.get("accelerators") for worker in supervisor.workers):
            wait_until_ready(STARTS_WITHIN, None)
    return largest_accelerator(supervisor.workers)


def largest_accelerator(workers: Iterable[WorkerProcess]) -> Accelerator | None:
    owners = (worker for worker in workers if worker.owns_accelerator)
    owner = max(owners, key=lambda worker: worker.accelerator_room, default=None)
    return None if owner is None else Accelerator(owner.accelerator, owner.accelerator_room)


def has_room_for(worker: WorkerProcess, queued: QueuedRun) -> bool:
    fits = has_room([_on_host(worker, run) for run in (*worker.runs.values(), queued)], worker.allowed)
    if not _uses_gpu(worker, queued):
        return fits
    there = [run.prediction for run in worker.runs.values() if _uses_gpu(worker, run)]
    beside = not there or has_room([*there, queued.prediction], worker.accelerator_room, base=0)
    # alone it may always go: the prediction is an upper bound
    return not worker.runs or (fits and beside)


def _uses_gpu(worker: WorkerProcess, queued: QueuedRun) -> bool:
    return bool(worker.accelerator_room) and queued.prediction.device.accelerator


def _on_host(worker: WorkerProcess, queued: QueuedRun) -> Prediction:
    beside = queued.prediction.beside
    return replace(queued.prediction, peak=beside, between=beside) if _uses_gpu(worker, queued) else queued.prediction


def has_room(runs: Iterable[Prediction], memory: float, base: int = WORKER_BYTES) -> bool:
    """True if these runs fit together into a worker that may take ``memory`` bytes; ``base``: its bytes without any run."""
    return base + together(runs) <= memory


def together(runs: Iterable[Prediction]) -> int:
    """Bytes of runs that take turns: each its memory between its steps, and the two largest their memory in a step."""
    predictions = list(runs)
    # one may be in the middle of a validation
    in_a_step = sorted(run.peak - run.between for run in predictions)
    return sum(run.between for run in predictions) + sum(in_a_step[-2:])
