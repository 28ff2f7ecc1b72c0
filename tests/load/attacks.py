"""The worst that one visitor does, each beside a class that trains and moves controls in the lab.

One visitor means one set of cookies, with as many tabs and connections as are wanted. What the host refuses is simply refused.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests.load.page import messages
from tests.load.session import Session, opened, visitor

STREAMS = 200
PAUSED = 16
TABS = 30
CONNECTIONS = 1200
MANY_TABS = 300
PROMPT = "my lord " * 240_000
"""1.9 megabytes, sent anew with each press; a connection that sends more than two at once is closed."""
LONG_ANSWERS = "v=1&seq_len=256&d_model=64&n_layers=4&n_heads=4&steps=3&batch_size=4"
"""Three steps, then answers of 256 tokens."""
LARGE = (
    "seq_len=512&d_model=64&n_layers=6&n_heads=8&batch_size=1",
    "family=gru&task=k_back&seq_len=768&d_model=256&batch_size=512",
    "dataset_size=1000000&seq_len=512",
)
"""More memory than the training step alone needs."""

Attack = Callable[[aiohttp.ClientSession, str, AsyncExitStack], Awaitable[None]]


async def long_answers(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    await _train(http, address, tabs, LONG_ANSWERS)


async def large_memory(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    await asyncio.gather(*(_train(http, address, tabs, query) for query in LARGE))


async def jobs(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    """Thirty tabs that each ask for other pictures, and a very long prompt."""
    writer = await tabs.enter_async_context(opened(http, address, "text", "steps=20"))
    await writer.press("Train")
    flood = [("encodings", f"seq_len={length}&reach=4") for length in range(100, 100 + TABS // 2)]
    flood += [("attention", f"sample={sample}") for sample in range(TABS - len(flood))]

    async def ask(page: str, query: str) -> None:
        tab = await tabs.enter_async_context(opened(http, address, page, query))
        label = "Base" if page == "encodings" else "Held-out sequence"
        while True:
            await (tab.move(label) if tab.has(label) else tab.rerun("open"))  # again, where the page did not come

    async def write() -> None:
        while not writer.has("Write"):
            await asyncio.sleep(0.2)
        await writer.write("Prompt", PROMPT)
        while True:
            await writer.press("Write")

    await asyncio.gather(write(), *(ask(page, query) for page, query in flood))


async def streams(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    """Two hundred streams of one run, each opened anew when it ends."""
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
    """Sixteen runs after a single step, and nobody there any more."""
    for seed in range(PAUSED):
        async with opened(http, address, "lab", f"seed={seed}") as tab:
            await tab.press("Step")


async def half_requests(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    """Connections that send half a request and wait, each opened anew when the server closes it."""
    parts = urlsplit(address)

    async def wait() -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
                writer.write(b"GET / HTTP/1.1\r\nHost: 127")
                await reader.read()
                writer.close()
            await asyncio.sleep(1)

    await asyncio.gather(*(wait() for _ in range(CONNECTIONS)))


async def many_tabs(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    """Websockets of one cookie, each opened anew when the server closes or refuses it."""
    async with http.get(address) as page:
        await page.read()

    async def keep() -> None:
        while True:
            with suppress(aiohttp.ClientError):
                async with http.ws_connect(f"{address}_stcore/stream", protocols=("streamlit",)) as socket:
                    await socket.receive()
            await asyncio.sleep(1)

    await asyncio.gather(*(keep() for _ in range(MANY_TABS)))


async def short_messages(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    """A websocket that sends the shortest message that Streamlit answers, as fast as it can, opened anew when it is closed."""
    message = BackMsg()
    message.rerun_script.query_string = "a=1"
    while True:
        with suppress(aiohttp.ClientError, ConnectionError):
            async with http.ws_connect(f"{address}_stcore/stream", protocols=("streamlit",)) as socket:
                while True:
                    await socket.send_bytes(message.SerializeToString())
        await asyncio.sleep(0.1)


async def many_addresses(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack) -> None:
    """Messages that ask for addresses for uploads, as many as fit."""
    message = BackMsg()
    message.file_urls_request.file_names.extend([""] * 550_000)
    while True:
        with suppress(aiohttp.ClientError, ConnectionError):
            async with http.ws_connect(f"{address}_stcore/stream", protocols=("streamlit",)) as socket:
                await socket.send_bytes(message.SerializeToString())
                await socket.receive()
        await asyncio.sleep(1)


ATTACKS: dict[str, Attack] = {
    "long answers": long_answers,
    "large memory": large_memory,
    "jobs and a long prompt": jobs,
    "200 streams": streams,
    "16 paused runs": paused,
    "half requests": half_requests,
    "300 tabs": many_tabs,
    "short messages": short_messages,
    "addresses for uploads": many_addresses,
}


@asynccontextmanager
async def attacked(attack: Attack | None, address: str, ahead: float = 3.0) -> AsyncIterator[None]:
    """One visitor does this from ``ahead`` seconds before the block to its end; None: nobody does."""
    if attack is None:
        yield
        return
    async with visitor() as http, AsyncExitStack() as tabs:
        going = asyncio.ensure_future(attack(http, address, tabs))
        await asyncio.sleep(ahead)
        try:
            yield
        finally:
            going.cancel()
            # Pages that the server closed or refused are the attacker's own affair.
            await asyncio.gather(going, return_exceptions=True)


async def _train(http: aiohttp.ClientSession, address: str, tabs: AsyncExitStack, query: str) -> Session:
    tab = await tabs.enter_async_context(opened(http, address, "lab", query))
    await tab.press("Train")
    return tab
