"""A crowd at one network address, each with a cookie of its own, beside one visitor at another address who trains once.

The server believes the header with the address, since both come from its own machine, as a proxy would.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psutil

from engine.workers.runs.presence import LEFT_FOR
from tests.load.page import Board
from tests.load.scenarios import AT_ONCE
from tests.load.session import opened, visitor
from tests.load.table import Figures
from tests.load.watch import watching

CROWD, HONEST = "203.0.113.9", "198.51.100.7"
"""The two network addresses (of those that RFC 5737 keeps for examples)."""
LEAVE, STAY = "have left", "stay"
PRESSES = 3
"""How often each of the crowd presses Train."""
STEPS = 5000
"""Optimizer steps of the crowd's runs: the most that the profile for strangers allows."""


async def crowd(
    server: psutil.Process, address: str, cookies: int, steps: int, seconds: float, *, stays: bool
) -> dict[str, Figures]:
    """One visitor's run of ``steps`` steps alone, and beside the runs of a crowd that has closed its pages, or ``stays``.
    ``seconds``: the longest time of each run."""
    alone = await _train(server, address, steps, seconds)
    async with AsyncExitStack() as pages:
        async with pressed(address, cookies) as open_pages:
            if stays:
                pages.push_async_exit(open_pages.pop_all())
        if not stays:
            await asyncio.sleep(LEFT_FOR + 1)
        beside = await _train(server, address, steps, seconds)
    return {"nobody": alone, f"{cookies} cookies that {STAY if stays else LEAVE}": beside}


@asynccontextmanager
async def pressed(address: str, cookies: int) -> AsyncIterator[AsyncExitStack]:
    """So many visitors of one address press Train three times each. Their pages stay open inside the block, and for as long as whoever
    takes them over from the stack."""
    few = asyncio.Semaphore(AT_ONCE)
    async with AsyncExitStack() as pages:

        async def come(number: int) -> None:
            async with few:
                http = await pages.enter_async_context(visitor(CROWD))
                page = await pages.enter_async_context(opened(http, address, "lab", f"steps={STEPS}&seed={number}"))
                for _ in range(PRESSES):
                    await page.press("Train")

        await asyncio.gather(*map(come, range(cookies)))
        yield pages


async def _train(server: psutil.Process, address: str, steps: int, seconds: float) -> Figures:
    async with (
        visitor(HONEST) as http,
        opened(http, address, "lab", f"steps={steps}") as page,
        watching(server) as watch,
    ):
        async with http.get(f"{address}healthz") as answer:
            beside = await answer.json()
        began = time.perf_counter()
        await page.press("Train")
        while not _has_ended(page.board) and time.perf_counter() - began < seconds:
            await asyncio.sleep(0.05)
        took, board = time.perf_counter() - began, page.board
        seen = watch.look()
        return {
            "runs that went before": beside["running"],
            "runs that waited before": beside["queued"],
            "click to first point (s)": board.points[0] - began if board and board.points else math.inf,
            "steps taken": board.step if board else 0,
            "click to the end (s)": took if _has_ended(board) else math.inf,
            "steps per second": board.step / took if board else 0.0,
            "workers (cores)": seen["workers (cores)"],
        }


def _has_ended(board: Board | None) -> bool:
    return board is not None and board.ended
