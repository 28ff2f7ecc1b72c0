"""The worst that one visitor does, each next to a class that trains and moves controls in the lab.

One visitor means one set of cookies, with as many tabs and connections as are wanted; a crowd has many, at one network address. A
refusal by the host is no error. Half-sent requests, tabs without number and floods of messages have tests in ``tests/pages/web``.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import aiohttp

from engine.serving.runs.presence import AWAY_SECONDS
from tools.load.session import Session, messages, open_session, visitor

AHEAD_SECONDS = 3.0
STREAMS = 200
PAUSED_TABS = 16
TABS = 30
# 1.9 megabytes, sent again with each press; a connection that sends more than two at once is closed
PROMPT = "my lord " * 240_000
# three steps, then answers of 256 tokens
LONG_ANSWERS = "v=1&seq_len=256&d_model=64&n_layers=4&n_heads=4&steps=3&batch_size=4"
# more memory than the training step alone needs
LARGE = (
    "seq_len=512&d_model=64&n_layers=6&n_heads=8&batch_size=1",
    "family=gru&task=k_back&seq_len=768&d_model=256&batch_size=512",
    "dataset_size=1000000&seq_len=512",
)

# the cookies of a crowd, the presses on Train of each, and the steps of each run: the most that the profile for strangers allows
COOKIES, PRESSES, CROWD_STEPS = 44, 3, 5000
# The crowd's network address (of those that RFC 5737 keeps for examples). The server believes the header with it, as if a proxy
# had sent it.
CROWD = "203.0.113.9"

Attack = Callable[[aiohttp.ClientSession, str, AsyncExitStack], Awaitable[None]]


async def long_answers(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    await _train(http, address, tabs, LONG_ANSWERS)


async def large_memory(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    await asyncio.gather(*(_train(http, address, tabs, query) for query in LARGE))


async def jobs(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    writer = await tabs.enter_async_context(open_session(http, address, "lab", "preset=next-word&steps=20"))
    await writer.press("Train")
    flood = [f"seq_len={length}&reach=4" for length in range(100, 100 + TABS)]

    async def ask(query: str) -> None:
        tab = await tabs.enter_async_context(open_session(http, address, "encodings", query))
        while True:
            await (
                tab.move("Encoding B") if tab.has("Encoding B") else tab.rerun("open")
            )  # again where the page did not come

    async def write() -> None:
        while not writer.has("Write"):
            await asyncio.sleep(0.2)
        await writer.write("Prompt", PROMPT)
        while True:
            await writer.press("Write")

    await asyncio.gather(write(), *map(ask, flood))


async def streams(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    tab = await _train(http, address, tabs, "steps=20000")

    async def watch() -> None:
        while tab.board is not None:
            try:
                async for _ in messages(http, address, tab.board.run, 0):
                    pass
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)

    await asyncio.gather(*(watch() for _ in range(STREAMS)))


async def paused(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    for seed in range(PAUSED_TABS):
        async with open_session(http, address, "lab", f"seed={seed}") as tab:
            await tab.press("Train")
            await tab.press("Pause")


async def crowd(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    few = asyncio.Semaphore(4)

    async def come(number: int) -> None:
        async with few:
            one = await tabs.enter_async_context(visitor(CROWD))
            page = await tabs.enter_async_context(
                open_session(one, address, "lab", f"steps={CROWD_STEPS}&seed={number}")
            )
            for _ in range(PRESSES):
                await page.press("Train")

    await asyncio.gather(*map(come, range(COOKIES)))


async def crowd_that_left(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    async with AsyncExitStack() as pages:
        await crowd(http, address, pages)
    await asyncio.sleep(AWAY_SECONDS + 1)


ATTACKS: dict[str, Attack] = {
    "long answers": long_answers,
    "large memory": large_memory,
    "jobs and a long prompt": jobs,
    "200 streams": streams,
    "16 paused runs": paused,
    "a crowd that has left": crowd_that_left,
    "a crowd that stays": crowd,
}


@asynccontextmanager
async def attacked(attack: Attack | None, address: str) -> AsyncIterator[None]:
    """Let one visitor do this from :data:`AHEAD_SECONDS` before the block to its end; a crowd does it before the block."""
    if attack is None:
        yield
        return
    async with visitor() as http, AsyncExitStack() as tabs:
        task = asyncio.ensure_future(attack(http, address, tabs))
        await asyncio.wait({task}, timeout=None if attack in (crowd, crowd_that_left) else AHEAD_SECONDS)
        try:
            yield
        finally:
            task.cancel()
            # Pages that the server closed or refused are the attacker's own affair.
            await asyncio.gather(task, return_exceptions=True)


async def _train(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack, query: str) -> Session:
    tab = await tabs.enter_async_context(open_session(http, address, "lab", query))
    await tab.press("Train")
    return tab
