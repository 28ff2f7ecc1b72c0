from dataclasses import dataclass

from engine.estimate.device import DeviceFacts
from engine.serving.processes.machines import APP_MACHINE, host_of
from engine.serving.processes.process import WorkerProcess
from engine.serving.processes.supervisor import Supervisor


@dataclass(frozen=True)
class Health:
    # without one that was just asked for
    workers: list[WorkerProcess]
    size: int
    running: int
    paused: int
    queued: int
    problem: str = ""  # a sentence if workers cannot be started
    cluster_is_gone: bool = False

    @property
    def training(self) -> list[WorkerProcess]:
        return [worker for worker in self.workers if worker.ready and worker.role == "runs"]

    @property
    def on_cluster(self) -> list[WorkerProcess]:
        return [worker for worker in self.training if worker.machine != APP_MACHINE]

    @property
    def ready(self) -> int:
        return len(self.training)

    @property
    def hosts(self) -> set[str]:
        """The names or addresses of the workers' computers; the app's own computer is the empty one."""
        return {host_of(worker.address) for worker in self.training}

    @property
    def device(self) -> DeviceFacts:
        return next((worker.facts for worker in self.training), DeviceFacts())


def health_of(supervisor: Supervisor, queued: int) -> Health:
    workers = supervisor.workers
    states = [run.run.state for worker in workers for run in worker.runs.values()]
    return Health(
        workers=[worker for worker in workers if worker.pid],
        size=supervisor.machines.slots,
        running=len(states) - states.count("paused"),
        paused=states.count("paused"),
        queued=queued,
        problem="Workers cannot be started; the server's log says why." if supervisor.failing else "",
        cluster_is_gone=bool(supervisor.machines.cluster.problem),
    )
