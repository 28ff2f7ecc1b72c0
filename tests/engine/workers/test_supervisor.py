"""The supervisor of the worker processes."""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from engine.hosting.limits import Limits
from engine.workers.processes.machines import Machines
from engine.workers.processes.process import WorkerProcess
from engine.workers.processes.supervisor import Supervisor
from tests.engine.workers.test_pool import FAKE, until


def test_a_worker_leaves_and_its_runs_are_moved_in_one_step_for_everybody_else() -> None:
    seen = list[bool]()

    def look() -> bool:
        if found := supervisor.lock.acquire(blocking=False):
            supervisor.lock.release()
        return found

    def others_can_look() -> bool:
        with ThreadPoolExecutor() as threads:
            return threads.submit(look).result()

    def on_death(_: WorkerProcess) -> Callable[[], None]:
        seen.append(others_can_look())
        return lambda: seen.append(others_can_look())

    limits = Limits()
    supervisor = Supervisor(
        FAKE, limits, Machines(limits, 1), on_death=on_death,
        on_report=lambda worker, report: None, on_round=lambda now: None,
    )  # fmt: skip
    supervisor.start()
    try:
        until(lambda: any(worker.process.pid for worker in supervisor.workers))
        os.kill(supervisor.workers[0].process.pid, signal.SIGKILL)
        until(lambda: bool(seen))
        assert not seen[0], "a Stop in between would find the run nowhere"
        until(lambda: len(seen) > 1)
        assert seen[1], "what is written to the disk holds up nobody"
    finally:
        supervisor.close()
