"""The memory limit of a worker process, kept by the operating system."""

from __future__ import annotations

import sys

import psutil


def limit_memory(allowed: int) -> None:
    """Let this process have ``allowed`` bytes of its own; what asks for more then gets a MemoryError, and nothing else ends.

    Linux counts the private writable memory that a process has asked for, touched or not (``RLIMIT_DATA``). A process has
    asked for more than is its own already when it starts, and a forked one for all that it shares. So the limit is set to what
    it has asked for so far, plus the part of ``allowed`` that it does not have yet. Windows has no such limit and macOS does not
    keep it: there, and for memory that is mapped, only the supervisor's look at the process is left.
    """
    if sys.platform != "linux":
        return
    import resource

    now = psutil.Process().memory_full_info()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = int(now.data) + max(0, allowed - int(now.uss))
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
