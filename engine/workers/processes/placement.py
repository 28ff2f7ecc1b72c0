"""The choice of a worker process for a run, and of the machine for one that a run has to itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from engine.estimate.prediction import Prediction
from engine.hosting.host import WORKER_BYTES
from engine.hosting.limits import Limits
from engine.workers.processes.machines import Machine
from engine.workers.processes.process import WorkerProcess
from engine.workers.protocol import Role
from engine.workers.runs.queued import QueuedRun

LARGE_SHARE = 0.5
"""The share of a worker's room for runs above which a run is large."""
SMALL_SHARE, SMALL_BOUND = 0.125, 64 * 2**20
"""The bound of a run without a formula up to which it may share a worker: a share of the room, and at least so many bytes."""


def worker_for_run(workers: Sequence[WorkerProcess], queued: QueuedRun, most: int) -> WorkerProcess | None:
    """The worker with the fewest running runs; None while every worker has ``most`` runs, too little room in its memory, or a
    run that must be alone.

    A run that needs an accelerator goes to a worker that owns one. Where there is none, any worker takes it, and the run
    itself says that the device is missing.
    """
    owned = needs_accelerator(queued, workers)
    able = [
        worker
        for worker in workers
        if worker.available and worker.role == "runs" and (worker.owns_accelerator or not owned)
    ]
    room = [
        worker for worker in able if not worker.held_alone and len(worker.runs) < most and _has_room_for(worker, queued)
    ]
    return min(room, key=lambda worker: (worker.load, worker.slot.number), default=None)


def _has_room_for(worker: WorkerProcess, queued: QueuedRun) -> bool:
    """Whether a run fits beside those of a worker: on a GPU with memory of its own beside those on it, else in the host's memory. Alone
    on the GPU it may always go: the prediction is an upper bound."""
    memory = worker.facts.get("accelerator_memory", 0)
    on_device = bool(memory and queued.wants_accelerator)
    beside = [run.prediction for run in worker.runs.values() if bool(memory and run.wants_accelerator) == on_device]
    if on_device:
        return not beside or has_room([*beside, queued.prediction], memory, base=0)
    return has_room([*beside, queued.prediction], worker.allowed)


def has_room(runs: Iterable[Prediction], memory: float, base: int = WORKER_BYTES) -> bool:
    """Whether these runs fit together into a worker that may take ``memory`` bytes; ``base`` is what it takes without any run."""
    return base + together(runs) <= memory


def together(runs: Iterable[Prediction]) -> int:
    """The bytes that runs take which take turns: each what it keeps between its steps, and the two largest what they need in a step
    (one may be in the middle of a validation)."""
    predictions = list(runs)
    in_a_step = sorted(run.peak - run.between for run in predictions)
    return sum(run.between for run in predictions) + sum(in_a_step[-2:])


def needs_own_process(prediction: Prediction, worker_memory: int) -> bool:
    """Whether a run gets a process of its own, with the operating system's limit: where it is large for a worker that may take
    ``worker_memory`` bytes, or where its peak is only a bound and not small. Then it alone fails if it takes more than it should."""
    room = worker_memory - WORKER_BYTES
    small = max(SMALL_SHARE * room, SMALL_BOUND)
    return prediction.peak > LARGE_SHARE * room or (prediction.memory.saved is None and prediction.peak > small)


def goes_on_its_own(queued: QueuedRun, workers: Sequence[WorkerProcess], limits: Limits) -> bool:
    """Whether a run gets a process of its own. On an accelerator it does not: the system's limit does not count that memory."""
    smallest = min((worker.allowed for worker in workers if worker.role == "runs"), default=int(limits.worker_memory))
    return needs_own_process(queued.prediction, smallest) and not needs_accelerator(queued, workers)


def needs_accelerator(queued: QueuedRun, workers: Iterable[WorkerProcess]) -> bool:
    """Whether only a worker that owns an accelerator may take a run: one that would use it, where any worker has found one. While its
    owner is started anew, the run waits for it."""
    return queued.wants_accelerator and any(worker.facts.get("accelerators") for worker in workers)


def memory_for(role: Role, machine: Machine, limits: Limits) -> int:
    """The bytes that a process may take: one with a single run as much as a worker and the largest allowed run."""
    return min(machine.memory, WORKER_BYTES + int(limits.memory)) if role == "own" else machine.memory


def machine_for_own(workers: Sequence[WorkerProcess], machines: Sequence[Machine], limits: Limits) -> Machine | None:
    """The machine with the fewest processes of that kind on which there is room for one more process with a run of its own; None while
    there is none.

    There are at most as many as a machine has workers, and together with what the runs on these are predicted to take they fit into the
    workers' memory. One may always go, so that no run waits for ever.
    """
    if not any(worker.available and worker.role == "runs" for worker in workers):
        return None  # whether there is an accelerator is not known yet
    own = Counter(worker.machine for worker in workers if worker.role == "own")
    room = [machine for machine in machines if _has_room_for_own(machine, own[machine.name], workers, limits)]
    return min(room, key=lambda machine: own[machine.name], default=None)


def _has_room_for_own(machine: Machine, own: int, workers: Iterable[WorkerProcess], limits: Limits) -> bool:
    """Whether one more process with a run of its own fits on the machine beside ``own`` others."""
    shared = [worker for worker in workers if worker.role == "runs" and worker.machine == machine.name]
    taken = sum(WORKER_BYTES + together(run.prediction for run in worker.runs.values()) for worker in shared)
    needed = taken + (own + 1) * memory_for("own", machine, limits)
    return own == 0 or (own < machine.slots and needed <= machine.slots * machine.memory)
