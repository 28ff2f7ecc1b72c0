"""Facts about the pool for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.workers.processes.machines import HERE, host_of
from engine.workers.processes.process import WorkerProcess
from engine.workers.protocol import DeviceFacts, Role


@dataclass(frozen=True)
class WorkerHealth:
    pid: int
    role: Role
    ready: bool
    runs: tuple[str, ...]
    """The ids of the runs on this worker."""
    answering: bool
    """Whether the worker computes a job now."""
    memory: int
    """Bytes of memory that it does not share with others."""
    facts: DeviceFacts = field(default_factory=DeviceFacts)
    machine: str = ""
    """The name of its machine; empty for the app's own."""
    accelerator: str = ""
    """The name of the accelerator that it owns; empty for none."""


@dataclass(frozen=True)
class Health:
    workers: list[WorkerHealth]
    """Those that are there; one that was just asked for is not yet."""
    size: int
    """The number of workers that train runs when all are up."""
    running: int
    paused: int
    queued: int
    problem: str = ""
    """One sentence when workers cannot be started, else empty."""
    cluster_is_gone: bool = False
    """Whether there is a cluster that cannot be reached."""

    @property
    def training(self) -> list[WorkerHealth]:
        """The workers that take runs."""
        return [worker for worker in self.workers if worker.ready and worker.role == "runs"]

    @property
    def on_cluster(self) -> list[WorkerHealth]:
        """Those of them that are on the cluster."""
        return [worker for worker in self.training if worker.machine != HERE]

    @property
    def ready(self) -> int:
        """The number of workers that take runs."""
        return len(self.training)

    @property
    def hosts(self) -> set[str]:
        """The computers with workers that take runs, by name or address; the app's own is the empty one."""
        return {host_of(worker.machine) for worker in self.training}

    @property
    def device(self) -> DeviceFacts:
        """Facts that the first ready worker found: ``torch``, ``accelerator``, ``accelerators``, ``accelerator_name``."""
        return next((worker.facts for worker in self.training), DeviceFacts())


def health_of(
    workers: Sequence[WorkerProcess], size: int, queued: int, *, failing: bool, cluster_is_gone: bool
) -> Health:
    states = [run.run.state for worker in workers for run in worker.runs.values()]
    return Health(
        workers=[_of(worker) for worker in workers if worker.process.pid],
        size=size,
        running=len(states) - states.count("paused"),
        paused=states.count("paused"),
        queued=queued,
        problem="Workers cannot be started; the server's log says why." if failing else "",
        cluster_is_gone=cluster_is_gone,
    )


def _of(worker: WorkerProcess) -> WorkerHealth:
    facts, post = worker.facts, worker.post
    return WorkerHealth(
        pid=worker.process.pid,
        role=post.role,
        ready=worker.ready,
        runs=tuple(worker.runs),
        answering=worker.job is not None and worker.job.begun_at is not None,
        memory=worker.memory,
        facts=facts,
        machine=post.machine,
        accelerator=(facts.get("accelerator_name") or facts.get("accelerator") or "")
        if worker.owns_accelerator
        else "",
    )
