"""Ordinary use for hours: readers come, look at pages, train short runs and go, and the host's own size is written down.

What grows with the use and never shrinks (memory, open files, threads, processes, the data folder) shows in the table: its
columns are the medians of equal parts of the time.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections import Counter
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
THINGS, TRAINED = "things done by all readers", "runs trained"
UNANSWERED, ERRORS = "reruns without an answer", "elements with an exception"


async def use(
    server: psutil.Process, data: Path, address: str, sessions: int, seconds: float, seed: int = 0
) -> dict[str, Figures]:
    """``sessions`` readers at once for so long; the figures by part of the time."""
    deadline, done = time.perf_counter() + seconds, Counter[str]()
    looks: list[Figures] = []

    async def look() -> None:
        while time.perf_counter() < deadline:
            looks.append(await asyncio.to_thread(size_of, server, data))
            await asyncio.sleep(LOOK_EVERY)

    await asyncio.gather(
        look(), *(read(address, deadline, random.Random(seed + number), done) for number in range(sessions))
    )
    return parts(looks, seconds) | {"in all": {name: done[name] for name in (THINGS, TRAINED, UNANSWERED, ERRORS)}}


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


async def read(address: str, deadline: float, chance: random.Random, done: Counter[str]) -> None:
    """One reader after another at one seat: each comes with new cookies, visits a few pages and goes."""
    while time.perf_counter() < deadline:
        async with visitor() as http:
            for _ in range(chance.randint(1, 4)):
                if time.perf_counter() < deadline:
                    await visit(http, address, deadline, chance, done)


async def visit(
    http: aiohttp.ClientSession, address: str, deadline: float, chance: random.Random, done: Counter[str]
) -> None:
    page, labels = chance.choice([*MOVED, ("lab", LAB), ("", ())])
    query = f"steps={chance.choice((100, 300, 1000))}&seed={chance.randrange(1000)}" if page == "lab" else ""
    if not labels:
        page, _, query = chance.choice(PAGES).partition("?")
    async with opened(http, address, page, query) as tab:
        done[THINGS] += 1
        if page == "lab":
            await train(tab, chance)
            done[TRAINED] += 1
        for _, label in zip(range(chance.randint(*STAY)), cycle(labels or (None,)), strict=False):
            await asyncio.sleep(chance.uniform(*PAUSE))
            if time.perf_counter() > deadline:
                break
            if label is not None:
                await tab.move(label)
            done[THINGS] += 1
        done[UNANSWERED] += sum(seconds == float("inf") for took in tab.took.values() for seconds in took)
        done[ERRORS] += tab.errors


async def train(tab: Session, chance: random.Random) -> None:
    """Train, and sometimes leave the run paused or going."""
    await tab.press("Train")
    if chance.random() < 0.2 and tab.has("Pause"):
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                while tab.board is None or not tab.board.points:
                    await asyncio.sleep(0.1)
        await tab.press("Pause")
