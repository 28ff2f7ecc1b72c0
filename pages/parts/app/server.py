"""Objects shared by the whole server process: its runs and its workers, made on first use."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the engine is imported on first use: the server is up half a second sooner
    from engine.foundation.job import Answer, Job
    from engine.foundation.visitor import Visitor
    from engine.runs.run import Run
    from engine.workers.pool import Pool

_making = Lock()
_pool: Pool | None = None


def pool() -> Pool:
    """The worker pool. It outlives sessions, until :func:`close`. Work submitted before the workers are ready waits for them."""
    from engine.foundation.files import keep_private
    from engine.foundation.paths import data_folder
    from engine.runs.store import Runs
    from engine.workers.limits import Limits
    from engine.workers.pool import Pool
    from pages.parts.app.presence import here

    global _pool
    with _making:
        if _pool is None:
            keep_private(data_folder())
            _pool = Pool(Runs(), Limits.from_environment(), here=here)
        return _pool


def wake() -> None:
    """Start the workers if they are not running; after the first page, which would otherwise share the cores with them."""
    from engine.estimate.speed import fully_measured

    workers = pool()
    if not workers.start():
        return
    _log_start(workers)
    if not fully_measured():
        Thread(target=_time_this_machine, args=(workers,), daemon=True).start()


def _log_start(workers: Pool) -> None:
    from streamlit import config

    from engine.foundation.log import LOG, log_to_stderr
    from engine.workers.start_log import start_lines

    log_to_stderr()
    for line in start_lines(
        workers.limits, os.environ, config.get_option("server.address"), workers.runs.lease.others()
    ):
        LOG.info(line)


def health() -> dict[str, int]:
    """How many workers are ready and wanted, and how many runs go and wait; zeros before the workers are started."""
    if _pool is None:
        return {"ready": 0, "workers": 0, "running": 0, "queued": 0}
    found = _pool.health()
    return {"ready": found.ready, "workers": found.size, "running": found.running, "queued": found.queued}


def _time_this_machine(workers: Pool) -> None:
    """Measure the speed of this machine once; without it only the predicted time of a run is missing."""
    from engine.training.jobs import MeasureSpeed
    from engine.workers.errors import JobError

    with suppress(JobError):
        workers.ask(MeasureSpeed(), timeout=120.0)


def find(run_id: str) -> Run | None:
    """The run of that id, live or on disk; None where there is none."""
    return pool().runs.get(run_id)


def admit_stream(visitor: Visitor) -> Callable[[], None]:
    """Count one more event stream of a visitor, until the returned function is called. Raises NoRoom where there are enough."""
    return pool().allowances.take("stream", visitor).release


def ask(job: Job[Answer], visitor: Visitor) -> Answer:
    """The answer to a job that a visitor asks for. Raises JobError with one sentence."""
    return pool().ask(job, visitor)


def close() -> None:
    """Stop the workers if there are any."""
    global _pool
    with _making:
        ending, _pool = _pool, None
    if ending is not None:
        ending.close()
