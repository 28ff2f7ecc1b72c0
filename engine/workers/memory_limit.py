"""The memory limit of a worker process, kept by the operating system."""

from __future__ import annotations

import sys

import psutil


def limit_memory(allowed: int) -> None:
    """Let this process have ``allowed`` bytes of memory; what asks for more then gets a MemoryError, and nothing else ends.

    Linux counts the private writable memory that a process has asked for, touched or not (``RLIMIT_DATA``). A process has
    asked for more than it has touched already when it starts, so the limit is set to what it has asked for so far, plus the
    part of ``allowed`` that is not resident yet. Windows has no such limit and macOS does not keep it: there, and for
    memory that is shared with other processes, only the supervisor's look at the resident memory is left.
    """
    if sys.platform != "linux":
        return
    import resource

    now = psutil.Process().memory_info()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = int(now.data) + max(0, allowed - int(now.rss))
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
