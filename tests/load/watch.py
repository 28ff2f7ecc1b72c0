"""What the server and the load itself take while a scenario goes: processor time and memory, from the operating system."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import psutil

MIB = 2**20
EVERY = 0.5
"""Seconds between two looks."""
QUIET, RESTS = 2.0, 0.1
"""Seconds in which the server's processes rest, and the share of a core that they may take meanwhile."""


@dataclass
class Watch:
    """Shares are parts of one core, from the beginning to the last look; memory is the largest seen, in MiB."""

    server: psutil.Process
    seconds: float = 0.0
    page_share: float = 0.0
    page_memory: float = 0.0
    workers: int = 0
    worker_share: float = 0.0
    worker_memory: float = 0.0
    """Of all workers together."""
    load_share: float = 0.0
    """Of the simulated sessions' own process."""
    _began: float = field(default_factory=time.perf_counter)
    _first: dict[int, float] = field(default_factory=dict)
    _last: dict[int, float] = field(default_factory=dict)

    def look(self) -> None:
        own = psutil.Process()
        self.seconds = max(time.perf_counter() - self._began, 1e-9)
        self.page_share, page = self._share(self.server), self.server.memory_info().rss / MIB
        self.page_memory = max(self.page_memory, page)
        self.load_share = self._share(own)
        memory = 0.0
        workers = self.server.children(recursive=True)
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                self._share(worker)
                memory += worker.memory_info().rss / MIB
        self.workers, self.worker_memory = max(self.workers, len(workers)), max(self.worker_memory, memory)
        others = (self.server.pid, own.pid)  # ended workers count with what they had taken when last seen
        self.worker_share = (
            sum(self._last[pid] - self._first[pid] for pid in self._last if pid not in others) / self.seconds
        )

    def _share(self, process: psutil.Process) -> float:
        taken = processor_seconds(process)
        self._last[process.pid] = taken
        return float((taken - self._first.setdefault(process.pid, taken)) / self.seconds)


async def at_rest(server: psutil.Process) -> None:
    """Wait until the server's processes compute nothing: all workers are there, and the machine's speed has been measured."""
    while True:
        before = _taken_by(server)
        await asyncio.sleep(QUIET)
        if _taken_by(server) - before < QUIET * RESTS:
            return


def processor_seconds(process: psutil.Process) -> float:
    """The processor time that a process has taken since it began."""
    times = process.cpu_times()
    return float(times.user + times.system)


def _taken_by(server: psutil.Process) -> float:
    """The processor seconds that the server and its children have taken."""
    seconds = 0.0
    for process in (server, *server.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            seconds += processor_seconds(process)
    return seconds


@asynccontextmanager
async def watching(server: psutil.Process) -> AsyncIterator[Watch]:
    """Watch the server's processes inside the block."""
    watch = Watch(server)

    async def go_on() -> None:
        while True:
            watch.look()
            await asyncio.sleep(EVERY)

    watch.look()
    looking = asyncio.create_task(go_on())
    try:
        yield watch
    finally:
        looking.cancel()
        watch.look()
