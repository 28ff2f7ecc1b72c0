"""The choice of a worker process for a run or a job, and of the processes that runs of their own need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.estimate.prediction import Prediction
from engine.workers.hosting.host import WORKER_BYTES
from engine.workers.hosting.limits import Limits
from engine.workers.processes.machines import Machine
from engine.workers.processes.process import Post, WorkerProcess
from engine.workers.runs.queued import QueuedJob, QueuedRun

LARGE_SHARE = 0.5
"""The share of a worker's room for runs above which a run is large."""
SMALL_SHARE, SMALL_BOUND = 0.125, 64 * 2**20
"""The bound of a run without a formula up to which it may share a worker: a share of the room, and at least so many bytes."""


def worker_for_run(
    workers: Sequence[WorkerProcess], queued: QueuedRun, most: int, limits: Limits
) -> WorkerProcess | None:
    """The worker with the fewest running runs; None while every worker has ``most`` runs, too little room in its memory, or a
    run that must be alone. For a run that needs a process of its own: that process, and None until it is ready.

    A run that needs an accelerator goes to a worker that owns one. Where there is none, any worker takes it, and the run
    itself says that the device is missing.
    """
    available = [worker for worker in workers if worker.available]
    if goes_on_its_own(queued, workers, limits):
        return next((worker for worker in available if worker.post == own_post(queued)), None)
    available = [worker for worker in available if worker.post.role == "runs"]
    if queued.wants_accelerator and any(worker.owns_accelerator for worker in workers):
        available = [worker for worker in available if worker.owns_accelerator]
    room = [
        worker
        for worker in available
        if not worker.held_alone and len(worker.runs) < most and _has_room_for(worker, queued)
    ]
    return min(room, key=lambda worker: (worker.load, worker.post.number), default=None)


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


def worker_for_job(workers: Iterable[WorkerProcess], job: QueuedJob, machine: str) -> WorkerProcess | None:
    """A free job process on the machine of that name; None while there is none.

    A process has one job at a time. Of two jobs that measure time, the second waits for the first; so does a visitor's
    second job, so that one visitor never holds all job processes.
    """
    computing = [worker.job for worker in workers if worker.job is not None]
    if any((job.alone and other.alone) or job.visitor.id == other.visitor.id != "" for other in computing):
        return None
    own = [worker for worker in workers if worker.post.role == "jobs" and worker.post.machine == machine]
    free = [worker for worker in own if worker.available and worker.job is None]
    return min(free, key=lambda worker: worker.post.number, default=None)


def needs_own_process(prediction: Prediction, worker_memory: int) -> bool:
    """Whether a run gets a process of its own, with the operating system's limit: where it is large for a worker that may take
    ``worker_memory`` bytes, or where its peak is only a bound and not small. Then it alone fails if it takes more than it should."""
    room = worker_memory - WORKER_BYTES
    small = max(SMALL_SHARE * room, SMALL_BOUND)
    return prediction.peak > LARGE_SHARE * room or (prediction.memory.saved is None and prediction.peak > small)


def goes_on_its_own(queued: QueuedRun, workers: Sequence[WorkerProcess], limits: Limits) -> bool:
    """Whether a run gets a process of its own. On an accelerator it does not: the system's limit does not count that memory."""
    smallest = min(
        (worker.allowed for worker in workers if worker.post.role == "runs"), default=int(limits.worker_memory)
    )
    if not needs_own_process(queued.prediction, smallest):
        return False
    return not (queued.wants_accelerator and any(worker.owns_accelerator for worker in workers))


def own_post(queued: QueuedRun) -> Post:
    return Post("own", run_id=queued.run.id, machine=queued.machine)


def memory_for(post: Post, machine: Machine, limits: Limits) -> int:
    """The bytes that a process may take: one with a single run as much as a worker and the largest allowed run."""
    return min(machine.memory, WORKER_BYTES + int(limits.memory)) if post.role == "own" else machine.memory


def own_posts(
    queue: Iterable[QueuedRun], workers: Sequence[WorkerProcess], machines: Sequence[Machine], limits: Limits
) -> list[Post]:
    """The posts of the runs that need a process of their own: those that go, and as many of the queue, in order, as fit.

    Fit on a machine: at most as many as it has workers, and together with what the runs on these are predicted to take within
    their memory. One may always go, so that no run waits for ever. The post of a waiting run names the machine that it is to have.
    """
    if not any(worker.available and worker.post.role == "runs" for worker in workers):
        return []  # whether there is an accelerator is not known yet
    posts = [worker.post for worker in workers if worker.post.role == "own" and worker.runs]
    starting = {worker.post for worker in workers}
    waiting = [queued for queued in queue if goes_on_its_own(queued, workers, limits)]
    for queued in sorted(
        waiting, key=lambda queued: own_post(queued) not in starting
    ):  # one that starts keeps its turn
        room = [machine for machine in machines if _fits(machine, posts, workers, limits)]
        if own_post(queued) in starting:
            posts.append(own_post(queued))
        elif room:
            least = min(room, key=lambda machine: _own_on(machine, posts))
            posts.append(replace(own_post(queued), machine=least.name))
    return posts


def _own_on(machine: Machine, posts: Iterable[Post]) -> int:
    return sum(post.machine == machine.name for post in posts)


def _fits(machine: Machine, posts: Sequence[Post], workers: Iterable[WorkerProcess], limits: Limits) -> bool:
    """Whether one more process with a run of its own fits on the machine beside these."""
    there = _own_on(machine, posts)
    shared = [worker for worker in workers if worker.post.role == "runs" and worker.post.machine == machine.name]
    taken = sum(WORKER_BYTES + together(run.prediction for run in worker.runs.values()) for worker in shared)
    needed = taken + (there + 1) * min(machine.memory, WORKER_BYTES + int(limits.memory))
    return there == 0 or (there < machine.slots and needed <= machine.slots * machine.memory)
