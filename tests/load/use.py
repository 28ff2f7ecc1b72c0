"""Ordinary use for hours: readers come, look at pages, train short runs and go, and the host's own size is written down.

What grows with the use and never shrinks (memory, open files, threads, processes, the data folder) shows in the table: its
columns are the medians of equal parts of the time.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import aiohttp
import psutil

from tests.load.scenarios import LAB, MOVED
from tests.load.session import Session, opened, visitor
from tests.load.table import Figures
from tests.load.watch import MIB

LOOK_EVERY = 20.0
"""Seconds between two looks at the host's size."""
PAUSE = (2.0, 10.0)
"""The shortest and longest time (s) between two things that a reader does."""
STAY = (3, 12)
"""The fewest and most things that a reader does on a page."""
PARTS = 6
"""Equal parts of the time, one column each."""
PAGES = ("", "issues", "memory_and_time", "design", "notebooks", "glossary", "issues?issue=heads")
"""Pages that are only looked at."""


async def use(
    server: psutil.Process, data: Path, address: str, sessions: int, seconds: float, seed: int = 0
) -> dict[str, Figures]:
    """``sessions`` readers at once for so long; the figures by part of the time."""
    deadline = time.perf_counter() + seconds
    readers = [Reader(random.Random(seed + number)) for number in range(sessions)]
    looks: list[Figures] = []

    async def look() -> None:
        while time.perf_counter() < deadline:
            looks.append(await asyncio.to_thread(size_of, server, data))
            await asyncio.sleep(LOOK_EVERY)

    await asyncio.gather(look(), *(reader.read_until(address, deadline) for reader in readers))
    done: Figures = {
        "things done by all readers": sum(reader.done for reader in readers),
        "runs trained": sum(reader.runs for reader in readers),
        "reruns without an answer": sum(reader.unanswered for reader in readers),
        "elements with an exception": sum(reader.errors for reader in readers),
    }
    return parts(looks, seconds) | {"in all": done}


def size_of(server: psutil.Process, data: Path) -> Figures:
    """The size of the host now: the page process, its children, and the data folder."""
    with server.oneshot():
        own: Figures = {
            "page process (MiB)": server.memory_info().rss / MIB,
            "page process, open files": server.num_fds(),
            "page process, threads": server.num_threads(),
        }
    children = []
    for child in server.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            children.append(child.memory_info().rss / MIB)
    sizes = []
    for file in data.rglob("*"):
        with suppress(OSError):
            sizes.append(file.stat().st_size)
    return own | {
        "child processes": len(children),
        "child processes (MiB)": sum(children),
        "data folder (MiB)": sum(sizes) / MIB,
        "data folder, files": len(sizes),
    }


def parts(looks: Sequence[Figures], seconds: float) -> dict[str, Figures]:
    """The medians of equal parts of the looks, by the minutes of the part."""
    found = {}
    for part in range(PARTS):
        of_part = looks[part * len(looks) // PARTS : (part + 1) * len(looks) // PARTS]
        if of_part:
            name = f"minutes {part * seconds / 60 / PARTS:.0f}-{(part + 1) * seconds / 60 / PARTS:.0f}"
            found[name] = {key: statistics.median(look[key] for look in of_part) for key in of_part[0]}
    return found


class Reader:
    """One reader after another at one seat: each comes with new cookies, visits a few pages and goes."""

    def __init__(self, chance: random.Random) -> None:
        self.done = self.runs = self.unanswered = self.errors = 0
        self._chance = chance

    async def read_until(self, address: str, deadline: float) -> None:
        while time.perf_counter() < deadline:
            async with visitor() as http:
                for _ in range(self._chance.randint(1, 4)):
                    if time.perf_counter() < deadline:
                        await self._visit(http, address, deadline)

    async def _visit(self, http: aiohttp.ClientSession, address: str, deadline: float) -> None:
        page, labels = self._chance.choice([*MOVED, ("lab", LAB), ("", ())])
        if not labels:
            page, _, query = self._chance.choice(PAGES).partition("?")
        else:
            query = f"steps={self._chance.choice((100, 300, 1000))}&seed={self._chance.randrange(1000)}"
            query = query if page == "lab" else ""
        async with opened(http, address, page, query) as tab:
            self.done += 1
            if page == "lab":
                await self._train(tab)
            for _, label in zip(range(self._chance.randint(*STAY)), cycle(labels or (None,)), strict=False):
                await asyncio.sleep(self._chance.uniform(*PAUSE))
                if time.perf_counter() > deadline:
                    break
                if label is not None:
                    await tab.move(label)
                self.done += 1
            self.unanswered += sum(seconds == float("inf") for took in tab.took.values() for seconds in took)
            self.errors += tab.errors

    async def _train(self, tab: Session) -> None:
        """Train, and sometimes leave the run paused or going."""
        await tab.press("Train")
        self.runs += 1
        if self._chance.random() < 0.2 and tab.has("Pause"):
            with suppress(TimeoutError):
                async with asyncio.timeout(5):
                    while tab.board is None or not tab.board.points:
                        await asyncio.sleep(0.1)
            await tab.press("Pause")
