import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from engine.estimate.device import DeviceFacts
from engine.serving.host import LATER_LIBRARY_BYTES, MIB, WORKER_BYTES
from engine.serving.limits import Limits
from engine.serving.processes.machines import Machine, Machines
from engine.serving.processes.process import Slot, WorkerProcess
from engine.serving.processes.supervisor import Supervisor, kill_oversized
from tests.engine.serving.test_pool import FAKE, until


def test_a_worker_leaves_and_its_runs_are_moved_in_one_step_for_everybody_else() -> None:
    observations = list[bool]()

    def update() -> bool:
        if found := supervisor.lock.acquire(blocking=False):
            supervisor.lock.release()
        return found

    def lock_is_free() -> bool:
        with ThreadPoolExecutor() as threads:
            return threads.submit(update).result()

    def on_death(_: WorkerProcess) -> Callable[[], None]:
        observations.append(lock_is_free())
        return lambda: observations.append(lock_is_free())

    limits = Limits()
    supervisor = Supervisor(
        FAKE, limits, Machines(limits, 1), on_death=on_death,
        on_report=lambda worker, report: None, on_round=lambda now: None,
    )  # fmt: skip
    supervisor.start()
    try:
        until(lambda: any(worker.process.pid for worker in supervisor.workers))
        os.kill(supervisor.workers[0].process.pid, signal.SIGKILL)
        until(lambda: bool(observations))
        assert not observations[0], "a Stop in between would find the run nowhere"
        until(lambda: len(observations) > 1)
        assert observations[1], "what is written to the disk holds up nobody"
    finally:
        supervisor.close()


def test_the_libraries_of_a_gpu_do_not_count_as_a_workers_runs() -> None:
    """A worker of 600 MiB that has CUDA's context is ended no sooner than one without."""

    class Process:
        pid = 0

        def send(self, message: object) -> None: ...
        def kill(self) -> None: ...

    def is_killed(room: int, mebibytes: int) -> bool:
        machine = Machine(1, 2**30, lambda *_: Process())  # type: ignore[arg-type, return-value]
        worker = WorkerProcess(Slot("runs"), machine, FAKE, 600 * MIB, lambda *_: None, lambda _: None)
        worker.memory_when_ready = 300 * MIB if room else WORKER_BYTES
        worker.become_ready(DeviceFacts(), room)
        worker.memory, worker.runs["run"] = mebibytes * MIB, None  # type: ignore[assignment]
        kill_oversized([worker])
        return worker.kill_reason is not None

    libraries = (300 * MIB - WORKER_BYTES + LATER_LIBRARY_BYTES) // MIB
    assert [is_killed(0, size) for size in (599, 601)] == [False, True]
    assert [is_killed(2**30, libraries + size) for size in (599, 601)] == [False, True]
