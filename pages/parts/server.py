"""What the whole server process shares: its runs and its workers, made when first asked for."""

from __future__ import annotations

from threading import Lock

from engine.limits import Limits
from engine.pool import Pool
from engine.runs import Run, Runs

_making = Lock()
_pool: Pool | None = None


def pool() -> Pool:
    """The started worker pool. Sessions come and go; it stays until :func:`close`."""
    global _pool
    with _making:
        if _pool is None:
            _pool = Pool(Runs(), Limits.from_environment())
            _pool.start()
        return _pool


def find(run_id: str) -> Run | None:
    """The run of that id, going or on disk; None where there is none."""
    return pool().runs.get(run_id)


def close() -> None:
    """Stop the workers if there are any."""
    global _pool
    with _making:
        ending, _pool = _pool, None
    if ending is not None:
        ending.close()
