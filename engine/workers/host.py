"""The cores and the memory of this machine, also inside a container that may use only a part of them."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

CGROUP = Path("/sys/fs/cgroup")
WORKER_BYTES = 400 * 2**20
"""The memory of a worker with torch before any training, in bytes, rounded up generously."""


def cores(cgroup: Path = CGROUP) -> int:
    """The number of physical cores this process may use; hyper-threads do not speed up matrix products."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    physical: int = psutil.cpu_count(logical=False) or usable
    quota = _numbers(cgroup / "cpu.max")
    granted = int(quota[0] / quota[1]) if len(quota) == 2 else usable
    return max(1, min(usable, physical, granted))


def memory(cgroup: Path = CGROUP) -> int:
    """Bytes of memory this process may use."""
    return min([int(psutil.virtual_memory().total), *_numbers(cgroup / "memory.max")])


def worker_count() -> int:
    """The number of workers: one for each core while they fit into half of the memory, at least one."""
    return max(1, min(cores(), memory() // 2 // WORKER_BYTES))


def _numbers(file: Path) -> list[int]:
    """The whole numbers in a cgroup file; none where it is missing or says ``max``."""
    try:
        words = file.read_text().split()
    except OSError:
        return []
    return [int(word) for word in words] if all(word.isdigit() for word in words) else []
