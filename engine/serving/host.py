"""The cores, the memory and the device of this machine, also inside a container that may use only a part of them, and a limit for
one process."""

import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path

import psutil

from engine.estimate.device import MAX_FREE_DEVICE_BYTES, DeviceFacts
from engine.serving.processes.child import FORKS

# the tree of control groups, and the file with this process's path in it
CGROUP, PROCESS_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
MIB = 2**20


def brings_cuda() -> bool:
    # its files tell, so that torch need not be imported
    # plain pip on Linux installs the build for CUDA
    torch = find_spec("torch")
    folders = (torch and torch.submodule_search_locations) or ()
    return any(file.match("*torch_cuda.*") for folder in folders for file in Path(folder, "lib").glob("*"))


# the memory of the page process without open pages, that of each open page, in bytes, and the pages that are counted
PAGE_BYTES, SESSION_BYTES, COUNTED_PAGES = 130 * MIB, 2 * MIB, 30
# The memory that all worker processes share, in bytes: the fork server with torch; rounded up. Of torch 2.13.0 it is 359 MiB with
# the build for CUDA, which also takes memory without a GPU, and 223 MiB with that for CPUs.
SHARED_BYTES = (456 if brings_cuda() else 320) * MIB if FORKS else 0
# a worker's unshared memory before any training, in bytes, rounded up generously
WORKER_BYTES = 64 * MIB if FORKS else 400 * MIB
MIN_RUNS_BYTES = 256 * MIB  # the least memory for runs beside which a further worker is started

# The memory of the GPU that each process takes which uses it, before any run: CUDA's context. Measured on an H100 with driver 580
# and torch 2.11 for CUDA 13.
CONTEXT_BYTES = 518 * MIB
# Of a GPU's memory, for the contexts of question processes. Few of them use it at once.
MAX_CONTEXTS_SHARE = 0.25
# the host's memory that CUDA's libraries take in a worker after it is ready, when kernels are loaded at their first use: rounded
# up generously, since it only keeps a worker from being ended for memory that its runs do not take
LATER_LIBRARY_BYTES = 512 * MIB
MAX_QUESTIONS = 8  # on a host with enough memory


def cores(cgroup: Path = CGROUP, process_groups: Path = PROCESS_GROUPS) -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # hyper-threads do not speed up matrix products
    physical: int = psutil.cpu_count(logical=False) or usable
    groups = list(_groups("cpu", cgroup, process_groups))
    quotas = [_numbers(group / "cpu.max") for group in groups]
    quotas += [_numbers(group / "cpu.cfs_quota_us") + _numbers(group / "cpu.cfs_period_us") for group in groups]
    granted = (quota[0] // quota[1] for quota in quotas if len(quota) == 2)
    return max(1, min(usable, physical, *granted))


def memory(cgroup: Path = CGROUP, process_groups: Path = PROCESS_GROUPS) -> int:
    files = ("memory.max", "memory.limit_in_bytes")
    allowed = (_numbers(group / file) for group in _groups("memory", cgroup, process_groups) for file in files)
    return min([int(psutil.virtual_memory().total), *(number for numbers in allowed for number in numbers)])


def worker_count() -> int:
    return max(1, min(cores(), for_workers() // (WORKER_BYTES + MIN_RUNS_BYTES)))


def question_count() -> int:
    # so many that nobody waits for the long ones of a few others; each process has half of a worker's memory, or less
    return max(2, min(MAX_QUESTIONS, memory() // 4 // (WORKER_BYTES // 2)))


def room_on_accelerator(free: int, questions: int) -> int:
    """Bytes that runs may take of a GPU with ``free`` bytes next to its worker's context."""
    # the rest is for the contexts of question processes
    return free - int(min(questions * CONTEXT_BYTES, MAX_CONTEXTS_SHARE * free))


def has_system_limit(role: str, facts: DeviceFacts) -> bool:
    # CUDA reserves far more than it takes: no limit in the worker that owns a GPU, nor in question processes
    uses_cuda = bool(facts.get("accelerator_memory")) or role == "jobs"
    return facts.get("accelerator") != "cuda" or not uses_cuda


def for_workers(of: int | None = None) -> int:
    """Bytes for all workers together, out of ``of`` bytes; by default the memory of this machine."""
    whole = of or memory()
    # the rest is for the shared memory of all workers, and for the page process with the open pages of a class, at least a
    # quarter
    return max(WORKER_BYTES + MIB, whole - max(whole // 4, PAGE_BYTES + COUNTED_PAGES * SESSION_BYTES) - SHARED_BYTES)


def _groups(controller: str, cgroup: Path, process_groups: Path) -> Iterator[Path]:
    """Yield the folders with the limits of this process: its group and those around it, in version 2 and, by controller, in version 1."""
    # a container often sees its group as the root of the tree, whatever its path says
    yield cgroup
    try:
        lines = [line.split(":", 2) for line in process_groups.read_text().splitlines()]
    except OSError:
        return
    for _, controllers, group in lines:  # version 2 names no controllers
        if controllers and controller not in controllers.split(","):
            continue
        top = cgroup / controllers
        parts = Path(group.lstrip("/")).parts
        yield from (top.joinpath(*parts[:depth]) for depth in range(len(parts) + 1))


def _numbers(file: Path) -> list[int]:
    """The whole numbers in a file of a control group; none if it is missing, or is ``max`` or -1 (no limit)."""
    try:
        words = file.read_text().split()
    except OSError:
        return []
    return [int(word) for word in words] if all(word.isdigit() for word in words) else []


def is_loopback(address: str | None) -> bool:
    """True if only this machine reaches an address or a name. None and an empty one mean all addresses."""
    try:
        return address == "localhost" or ip_address(address or "").is_loopback
    except ValueError:
        return False


def limit_memory(allowed: int) -> None:
    """Let this process have ``allowed`` bytes of unshared memory; a request for more then gets a MemoryError, and nothing else
    ends.

    Linux counts the private writable memory that a process has asked for, touched or not (``RLIMIT_DATA``). A process has already asked
    for more than its own when it starts, and a forked one for all that it shares. So the limit is set to what it has asked
    for so far, plus the part of ``allowed`` that it does not have yet. Windows has no such limit and macOS does not keep it: there,
    and for memory that is mapped, only the supervisor checks the process.
    """
    if sys.platform != "linux":
        return
    import resource

    now = psutil.Process().memory_full_info()
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = int(now.data) + max(0, allowed - int(now.uss))
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def free_memory() -> None:
    gc.collect()
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        # also the allocator's reserve for the next step
        libc.malloc_trim(0)
    torch = sys.modules.get("torch")  # with a stand-in for the training, torch is not loaded
    if (
        torch is not None
        and torch.cuda.is_initialized()
        and torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > MAX_FREE_DEVICE_BYTES
    ):
        with suppress(RuntimeError):  # it waits for all that runs on the device
            torch.cuda.empty_cache()
