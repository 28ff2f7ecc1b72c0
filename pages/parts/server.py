"""What the whole server process shares: its runs and its workers, made when first asked for."""

from __future__ import annotations

import threading
from functools import cache

from engine.pool import Pool

from engine.runs import Run, Runs

_making = threading.Lock()


def runs() -> Runs:
    """The run folders in the user's data directory."""
    with _making:
        return _runs()


def pool() -> Pool:
    """The started worker pool. Sessions come and go; it stays until :func:`close`."""
    kept = runs()
    with _making:
        return _pool(kept)


def find(run_id: str) -> Run | None:
    return runs().get(run_id)


def close() -> None:
    """Stop the workers if there are any."""
    with _making:
        if _pool.cache_info().currsize:
            _pool(_runs()).close()
            _pool.cache_clear()


@cache
def _runs() -> Runs:
    return Runs(data_folder() / "runs")


@cache
def _pool(kept: Runs) -> Pool:
    made = Pool(kept, Limits.from_environment())
    made.start()
    return made
