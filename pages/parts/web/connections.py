"""Connections whose other side keeps the server waiting: with half a request, or with an answer that it does not read. They are closed,
so that they do not use up the descriptors that others need.

Middleware is called with whole requests only, so that this stands before it: ``streamlit run`` makes uvicorn's server and gives it no
limits, but uvicorn reads its configuration anew for each connection, and the lifespan of the app begins before the first one. What is
read here of uvicorn is public: ``Config.http_protocol_class``, ``Server.server_state``, and of a connection ``client``, ``transport``
and ``cycle``, its last request, which h11's protocol and that of httptools have alike. A websocket has no ``cycle``.
"""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uvicorn import Server

from engine.foundation.log import LOG
from engine.foundation.visitor import Visitor
from engine.serving import descriptors
from pages.parts.app.visitor import shared_address

if TYPE_CHECKING:  # what is read here of them, httptools' have, too
    from uvicorn.protocols.http.h11_impl import H11Protocol as Connection
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle as Cycle

BEGIN_WITHIN = 10.0
"""Seconds within which a connection must have sent the first lines of its next request, up to the empty one."""
GO_ON_WITHIN = 60.0
"""Seconds within which it must have sent all of that request, or read something of the answer."""
MADE_WITHIN = 90.0
"""Seconds after which a connection is not expected any more that was accepted and not made: TLS has a minute to begin."""
CONNECTION_CHECK_SECONDS = 1.0
"""Seconds between two looks at all connections."""


LONGEST_MESSAGE = 1_200_000
"""Bytes of a message over a websocket, which is held until it is whole: the longest text that can be trained on, and a page's controls."""


@dataclass(frozen=True)
class Debt:
    """The part of an exchange that the client still owes: the rest of its request, or to read the answer. Two debts are equal while
    nothing of it has come."""

    cycle: Cycle | None
    """The last request; None before the first one."""
    unread: int
    """The bytes of the answer that the other side has not read."""
    within: float
    """The seconds that it has."""


def debt_of(connection: Connection) -> Debt | None:
    """None while it is the server's turn: a whole request is being answered."""
    cycle, transport = connection.cycle, connection.transport
    if transport is None:
        return Debt(None, 0, MADE_WITHIN)
    if unread := transport.get_write_buffer_size():
        return Debt(cycle, unread, GO_ON_WITHIN)
    if cycle is None or cycle.response_complete:
        return Debt(cycle, 0, BEGIN_WITHIN)
    return Debt(cycle, 0, GO_ON_WITHIN) if cycle.more_body else None


class Waiting:
    """The connections that the server waits for: each for a time, and only ``most`` that have not sent the first lines of a request.
    Of more, those go that have waited longest of the network address that has most, so that others still find a place."""

    def __init__(self, here: Set[object], most: int, clock: Callable[[], float]) -> None:
        """``here``: all connections that are there now, also those of websockets."""
        self._here, self._most, self._clock = here, most, clock
        self._since: dict[Connection, tuple[Debt | None, float]] = {}
        self._full = most

    def note(self, connection: Connection) -> None:
        """A connection is being made."""
        self._since[connection] = debt_of(connection), self._clock()
        if len(self._since) > self._full:
            self._make_room()
            self._full = max(self._most, len(self._since) + self._most // 4)  # not anew for each connection

    def check(self) -> None:
        """Close the connections whose time is over."""
        now = self._clock()
        for connection, (before, since) in list(self._since.items()):
            debt = debt_of(connection)
            if connection.transport and connection not in self._here:  # it has ended, or is a websocket by now
                del self._since[connection]
            elif debt is None or debt != before:
                self._since[connection] = debt, now
            elif now - since > debt.within:
                self._close(connection)

    async def watch(self) -> None:
        """Look once per beat, until this is cancelled."""
        while True:
            await asyncio.sleep(CONNECTION_CHECK_SECONDS)
            self.check()

    def _make_room(self) -> None:
        """Look first, as many may be gone; then close a quarter at once."""
        self.check()
        silent: dict[str, list[Connection]] = {}
        for connection in self._since:  # the earliest first
            debt = debt_of(connection)
            if debt and debt.within == BEGIN_WITHIN:  # the first lines of its next request have not come
                host = connection.client[0] if connection.client else ""
                silent.setdefault(Visitor("", shared_address(host)).network or host, []).append(connection)
        numbers = Counter({address: len(theirs) for address, theirs in silent.items()})
        excess = numbers.total() - self._most
        for _ in range(excess + self._most // 4 if excess > 0 else 0):
            ((address, _),) = numbers.most_common(1)
            self._close(silent[address].pop(0))
            numbers[address] -= 1

    def _close(self, connection: Connection) -> None:
        self._since.pop(connection, None)
        if connection.transport:
            connection.transport.abort()


def on_signal() -> object:
    """The object that is told when the program is asked to end: uvicorn's server, of which the handler is a method. None for others."""
    return getattr(signal.getsignal(signal.SIGTERM), "__self__", None)


def limit_connections() -> Waiting:
    """Keep the server that begins to run this app within the descriptors that it may have. To be called in the lifespan of the app,
    before the first connection; what it returns has to look on."""
    descriptors.raise_limit()
    most, server, clock = descriptors.for_requests(), on_signal(), asyncio.get_running_loop().time
    if not isinstance(server, Server):  # a test, or another program
        LOG.warning(
            "Connections that keep the server waiting are not limited: the server is not the one of `streamlit run`."
        )
        return Waiting(set(), most, clock)
    config, waiting = server.config, Waiting(server.server_state.connections, most // 2, clock)
    make: Callable[..., Connection] = config.http_protocol_class  # type: ignore[assignment]

    def connection(**given: object) -> Connection:
        made = make(**given)
        waiting.note(made)
        return made

    config.http_protocol_class = connection  # type: ignore[assignment]
    config.backlog = min(config.backlog, most // 2)  # so many are accepted at once, before the first of them is made
    config.ws_max_size = min(config.ws_max_size, LONGEST_MESSAGE)
    config.limit_concurrency = most + descriptors.for_tabs()  # beyond that the answer is 503 at once
    return waiting
