"""The objects of the whole server process, its runs and workers, made on first use; and the lines of the log at its
start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the engine is imported on first use: the server starts half a second sooner
    from filelock import FileLock

    from engine.foundation.visitor import Visitor
    from engine.runs.run import Run
    from engine.serving.allowances import WorkKind
    from engine.serving.limits import Limits
    from engine.serving.pool import Pool

_making = Lock()
_pool: Pool | None = None
_locks: set[FileLock] = set()  # holds the lock of the data folder while the process lives


def pool() -> Pool:
    """Return the worker pool, which outlives sessions, until :func:`close`. Work waits until workers are ready. Raises
    ValueError with one sentence for an invalid limit or scheduler in the environment."""
    from engine.foundation.files import data_folder, keep_private
    from engine.runs.store import Runs
    from engine.serving.cluster import cluster_at
    from engine.serving.limits import Limits
    from engine.serving.pool import Pool
    from pages.parts.app.visitor import is_present

    global _pool
    with _making:
        if _pool is None:
            limits, cluster = Limits.from_environment(), cluster_at(scheduler())
            keep_private(data_folder())
            _pool = Pool(Runs(), limits, is_present=is_present, cluster=cluster)
        return _pool


def take_data() -> None:
    """Lock the data folder for this process until it ends. Raises SystemExit with one sentence if another server has
    it."""
    from filelock import FileLock, Timeout

    from engine.foundation.files import DATA_VARIABLE, data_folder, keep_private

    keep_private(folder := data_folder())
    lock = FileLock(folder / "server.lock", is_singleton=True, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        other = f"Another server uses the data folder {folder}."
        raise SystemExit(f"{other} Stop it first, or name another folder in {DATA_VARIABLE}.") from None
    except OSError:  # a read-only disk: the pages say what cannot be saved
        return
    _locks.add(lock)


def scheduler() -> str:
    from engine.serving.cluster import SCHEDULER_VARIABLE

    return os.environ.get(SCHEDULER_VARIABLE, "")


def wake() -> None:
    """Start the workers if they are not running. Call it after the first page, which would otherwise share the cores
    with them."""
    from streamlit import config

    from engine.estimate.speed import fully_measured
    from engine.foundation.files import data_folder_problem
    from engine.foundation.log import LOG, log_to_stderr

    log_to_stderr()
    try:
        workers = pool()
    except ValueError as error:  # every page raises it, too, and the health route reports no workers
        LOG.error("%s The app cannot train.", error)
        return
    if not workers.start():
        return
    if problem := data_folder_problem():
        LOG.error("%s Until then nothing is trained.", problem)
    workers.take_up()
    for line in start_lines(workers.limits, os.environ, config.get_option("server.address"), scheduler()):
        LOG.info(line)
    if not fully_measured():
        Thread(target=_time_this_machine, args=(workers,), daemon=True).start()


def health() -> dict[str, int]:
    """Return how many workers are ready, in all and on the cluster, and on how many machines; how many are wanted; how
    many runs are running and queued. Zeros before the workers are started."""
    if _pool is None:
        return dict.fromkeys(("ready", "workers", "running", "queued", "ready_here", "ready_on_cluster", "machines"), 0)
    now = _pool.health()
    on_cluster = len(now.on_cluster)
    return {
        "ready": now.ready, "workers": now.size, "running": now.running, "queued": now.queued,
        "ready_here": now.ready - on_cluster, "ready_on_cluster": on_cluster, "machines": len(now.hosts),
    }  # fmt: skip


def _time_this_machine(workers: Pool) -> None:
    from engine.foundation.errors import JobError
    from engine.training.jobs import MeasureSpeed

    with suppress(JobError):  # without it only the predicted time of a run is missing
        workers.ask(MeasureSpeed(), timeout=120.0)


def find(run_id: str) -> Run | None:
    return pool().runs.get(run_id)


def admit(kind: WorkKind, visitor: Visitor, amount: int = 1) -> Callable[[], None]:
    """Count one more event stream or tab of a visitor, or so many bytes, until the returned function is called. Raises
    NoRoom above the limit."""
    try:
        allowances = pool().allowances
    except ValueError:  # no pool, which every page reports
        return lambda: None
    return allowances.take(kind, visitor, amount)


def close() -> None:
    """Stop the workers if there are any. Meanwhile their work is refused; a second caller waits, too."""
    global _pool
    ending = _pool
    if ending is not None:
        ending.close()
    with _making:
        _pool = None if _pool is ending else _pool


def start_lines(limits: Limits, environ: Mapping[str, str], address: str | None, scheduler: str = "") -> Iterator[str]:
    """Yield the lines of the log. ``address``: of the server; None for every interface. ``scheduler``: its address;
    empty without a cluster."""
    from engine.serving.host import is_loopback
    from engine.serving.limits import PROFILE

    values = " ".join(f"{name}={value}" for name, value in limits.model_dump().items())
    yield f"Profile {environ.get(PROFILE, 'own')}; limits: {values}"
    if PROFILE not in environ and not is_loopback(address):
        yield (
            f"The server can be reached from other computers and {PROFILE} is not set: the limits are those for one's own "
            f"computer. Set {PROFILE}=public, or {PROFILE}=own to keep them."
        )
    if scheduler:
        yield f"Runs are trained on the workers of the cluster at {scheduler}; on this machine while there are none."
