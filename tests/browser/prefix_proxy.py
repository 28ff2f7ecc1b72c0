"""A reverse proxy that adds a path prefix, as hosts do: ``/shared/lab/x`` outside is ``/x`` inside."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit


@contextmanager
def proxied(address: str, prefix: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """The address under which the server at ``address`` is reached through the prefix, and a function that cuts every answer off."""
    inside = urlsplit(address)
    loop = asyncio.new_event_loop()
    ready: list[int] = []
    answering: set[asyncio.StreamWriter] = set()
    listening = threading.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            method, path, rest = head.split(b" ", 2)
            if not path.startswith(prefix.encode()):
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            else:
                inner = b"/" + path[len(prefix) :].lstrip(b"/")
                if b"upgrade:" not in rest.lower():  # One request a connection, so that each is rewritten.
                    rest = rest.replace(b"keep-alive", b"close")
                    answering.add(writer)
                onward, back = await asyncio.open_connection(inside.hostname, inside.port)
                back.write(b" ".join((method, inner, rest)))
                await asyncio.gather(pump(reader, back), pump(onward, writer))
        writer.close()
        answering.discard(writer)

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while part := await source.read(65536):
                sink.write(part)
                await sink.drain()
            sink.close()

    async def listen() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        ready.append(server.sockets[0].getsockname()[1])
        listening.set()

    def cut() -> None:
        loop.call_soon_threadsafe(lambda: [writer.transport.abort() for writer in answering])

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(listen())
        loop.run_forever()
        going = asyncio.all_tasks(loop)
        for task in going:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*going, return_exceptions=True))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    listening.wait()
    yield f"http://127.0.0.1:{ready[0]}{prefix}{inside.path}", cut
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
