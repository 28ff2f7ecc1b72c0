"""A reverse proxy that adds a path prefix, as hosts do: ``/shared/lab/x`` outside is ``/x`` inside."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from anyio.from_thread import start_blocking_portal


@contextmanager
def proxied(address: str, prefix: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """The address of the server at ``address`` through the prefix, and a function that cuts every answer off."""
    inside = urlsplit(address)
    answering: set[asyncio.StreamWriter] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            method, path, rest = head.split(b" ", 2)
            if not path.startswith(prefix.encode()):
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            else:
                inner = b"/" + path[len(prefix) :].lstrip(b"/")
                if b"upgrade:" not in rest.lower():  # One request per connection, so that each is rewritten.
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

    def cut() -> None:
        for writer in answering:
            writer.transport.abort()

    with start_blocking_portal() as portal:
        server = portal.call(asyncio.start_server, handle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}{prefix}{inside.path}", lambda: portal.call(cut)
