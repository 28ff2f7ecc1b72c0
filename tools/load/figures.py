"""Figures of scenarios: percentiles, medians over rounds, Markdown tables for ``docs/load.md``; and processor time and memory of
the server and of the load itself during a scenario, from the operating system."""

import asyncio
import math
import statistics
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil

Figures = dict[str, float]  # by name, with the unit in it; NaN if there is none
MIB = 2**20
EVERY = 0.5  # between two readings
# the memory that a container cannot drop: pages of libraries and other files are read again when they are needed
WITHOUT_FILES = "page process and workers, without pages of files (MiB)"
# seconds in which the server's processes rest, and the share of a core that they may take meanwhile
QUIET, RESTS = 2.0, 0.1


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least this share of them does not exceed (nearest rank); NaN if there are none."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else math.nan


def medians(rounds: Sequence[Figures]) -> Figures:
    names = dict.fromkeys(name for figures in rounds for name in figures)
    by_name = {name: [r[name] for r in rounds if name in r and not math.isnan(r[name])] for name in names}
    return {name: statistics.median(values) if values else math.nan for name, values in by_name.items()}


def table(columns: Mapping[str, Figures]) -> str:
    names = dict.fromkeys(name for figures in columns.values() for name in figures)
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'--:|' * len(columns)}"]
    lines += [f"| {name} | {' | '.join(_format(f.get(name, math.nan)) for f in columns.values())} |" for name in names]
    return "\n".join(lines)


def with_ratio(sides: Mapping[str, Figures]) -> dict[str, Figures]:
    (here, first), (there, second) = sides.items()
    ratios = {name: first[name] / second[name] for name in first if second.get(name)}
    return {here: first, there: second, f"{here} / {there}": ratios}


def _format(value: float) -> str:
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "no answer"
    return f"{value:.0f}" if value == round(value) or abs(value) >= 100 else f"{value:.3g}"


class Watch:
    """Processor time as a share of a core from the beginning to the last reading; memory and workers at their highest."""

    def __init__(self, server: psutil.Process) -> None:
        self._server, self._mine, self._began = server, psutil.Process(), time.perf_counter()
        # processor seconds of each process before the first reading and at its last, so that an ended one counts
        self._processor_seconds: dict[int, tuple[float, float]] = {}
        self._most: Figures = {}
        self.read()

    def read(self) -> Figures:
        workers = self._server.children(recursive=True)
        memory, anonymous = dict[int, float](), 0.0
        for process in (self._server, self._mine, *workers):
            with suppress(psutil.NoSuchProcess):
                now = sum(process.cpu_times()[:2])  # of the user and of the system
                before = 0.0 if self._most else now  # a process that comes later began later
                self._processor_seconds[process.pid] = self._processor_seconds.get(process.pid, (before, now))[0], now
                memory[process.pid] = memory_of(process) / MIB
                anonymous += anonymous_of(process) / MIB if process != self._mine else 0.0
        seconds = max(time.perf_counter() - self._began, 1e-9)
        cores = {pid: (last - first) / seconds for pid, (first, last) in self._processor_seconds.items()}
        page, mine = cores.pop(self._server.pid), cores.pop(self._mine.pid)
        sizes = {
            "page process (MiB)": memory.pop(self._server.pid),
            "workers": len(workers),
            "workers (MiB)": sum(memory.values()) - memory[self._mine.pid],
            WITHOUT_FILES: anonymous,
        }
        self._most = {name: max(size, self._most.get(name, 0.0)) for name, size in sizes.items()}
        shares = {"page process (cores)": page, "workers (cores)": sum(cores.values())}
        return {"seconds": seconds, **shares, **self._most, "the sessions' own process (cores)": mine}


async def at_rest(server: psutil.Process) -> None:
    """Wait until the server's processes compute nothing: all workers are there, and the machine's speed is known."""
    cores = 1.0
    while cores > RESTS:
        watch = Watch(server)
        await asyncio.sleep(QUIET)
        known = watch.read()
        cores = known["page process (cores)"] + known["workers (cores)"]


def memory_of(process: psutil.Process) -> int:
    """The unshared bytes of a process, and its part of the shared ones: forked processes share most of theirs."""
    facts = process.memory_full_info()
    return int(getattr(facts, "pss", facts.uss))


def anonymous_of(process: psutil.Process) -> int:
    """The bytes among :func:`memory_of` that are no pages of a file; all of them if the system does not tell."""
    try:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss_Anon:"))
    except (OSError, StopIteration):
        return memory_of(process)


@asynccontextmanager
async def watching(server: psutil.Process) -> AsyncIterator[Watch]:
    watch = Watch(server)

    async def go_on() -> None:
        while True:
            watch.read()
            await asyncio.sleep(EVERY)

    task = asyncio.create_task(go_on())
    try:
        yield watch
    finally:
        task.cancel()
