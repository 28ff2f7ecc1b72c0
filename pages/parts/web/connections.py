"""Timeouts for connections whose client sends only half a request, or does not read its answer: closed, they free the
descriptors that others need.

Middleware sees whole requests only, so this hooks into uvicorn: ``streamlit run`` makes uvicorn's server without
limits, but uvicorn reads its configuration again for each connection, and the lifespan of the app begins before the
first one. The module uses public attributes of uvicorn: ``Config.http_protocol_class``, ``Server.server_state``, and of
a connection ``client``, ``transport`` and ``cycle``, its last request, for h11 and httptools. A websocket has no
``cycle``.
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

if TYPE_CHECKING:  # httptools' classes have the same attributes
    from uvicorn.protocols.http.h11_impl import H11Protocol as Connection
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle as Cycle

BEGIN_WITHIN = 10.0  # seconds to send the first lines of the next request, up to the empty one
GO_ON_WITHIN = 60.0  # seconds to send the rest of it, or to read some of the answer
HANDSHAKE_WITHIN = 90.0  # seconds from accepting a connection to giving up on it: a TLS handshake has a minute
CONNECTION_CHECK_SECONDS = 1.0


# bytes, since uvicorn buffers a whole message: the longest text for training, and a page's controls
LONGEST_MESSAGE = 1_200_000


@dataclass(frozen=True)
class Debt:
    """The part of an exchange that the client still owes: the rest of its request, or reading the answer. Debts are
    equal while nothing has arrived."""

    cycle: Cycle | None  # the last request; None before the first one
    unread: int  # bytes of the answer
    within: float  # seconds


def debt_of(connection: Connection) -> Debt | None:
    """Return None while a whole request is being answered."""
    cycle, transport = connection.cycle, connection.transport
    if transport is None:
        return Debt(None, 0, HANDSHAKE_WITHIN)
    if unread := transport.get_write_buffer_size():
        return Debt(cycle, unread, GO_ON_WITHIN)
    if cycle is None or cycle.response_complete:
        return Debt(cycle, 0, BEGIN_WITHIN)
    return Debt(cycle, 0, GO_ON_WITHIN) if cycle.more_body else None


class PendingConnections:
    """The connections that the server waits for, each for a limited time, and at most ``most`` without the first lines
    of a request. Above that, the oldest of the network address with the most are closed, so that others still connect.
    """

    def __init__(self, current: Set[object], most: int, clock: Callable[[], float]) -> None:
        """``current``: all current connections, also those of websockets."""
        self._current, self._most, self._clock = current, most, clock
        self._since: dict[Connection, tuple[Debt | None, float]] = {}
        self._full = most

    def note(self, connection: Connection) -> None:
        self._since[connection] = debt_of(connection), self._clock()
        if len(self._since) > self._full:
            self._make_room()
            self._full = max(self._most, len(self._since) + self._most // 4)  # not again for each connection

    def check(self) -> None:
        now = self._clock()
        for connection, (before, since) in list(self._since.items()):
            debt = debt_of(connection)
            if connection.transport and connection not in self._current:  # closed, or a websocket by now
                del self._since[connection]
            elif debt is None or debt != before:
                self._since[connection] = debt, now
            elif now - since > debt.within:
                self._close(connection)

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(CONNECTION_CHECK_SECONDS)
            self.check()

    def _make_room(self) -> None:
        self.check()  # first, since many may have ended
        silent: dict[str, list[Connection]] = {}
        for connection in self._since:  # the earliest first
            debt = debt_of(connection)
            if debt and debt.within == BEGIN_WITHIN:  # without the first lines of its next request
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
    """Return uvicorn's server, of which the handler of SIGTERM is a method; None for another program."""
    return getattr(signal.getsignal(signal.SIGTERM), "__self__", None)


def limit_connections() -> PendingConnections:
    """Keep the server of this app within its descriptors. Call it in the lifespan of the app, before the first
    connection, and run the result's :meth:`Waiting.watch`."""
    descriptors.raise_limit()
    most, server, clock = descriptors.for_requests(), on_signal(), asyncio.get_running_loop().time
    if not isinstance(server, Server):  # a test, or another program
        LOG.warning(
            "Connections that keep the server waiting are not limited: the server is not the one of `streamlit run`."
        )
        return PendingConnections(set(), most, clock)
    config, waiting = server.config, PendingConnections(server.server_state.connections, most // 2, clock)
    make: Callable[..., Connection] = config.http_protocol_class  # type: ignore[assignment]

    def connection(**arguments: object) -> Connection:
        result = make(**arguments)
        waiting.note(result)
        return result

    config.http_protocol_class = connection  # type: ignore[assignment]
    config.backlog = min(config.backlog, most // 2)  # this many are accepted before the first one is made
    config.ws_max_size = min(config.ws_max_size, LONGEST_MESSAGE)
    config.limit_concurrency = most + descriptors.for_tabs()  # above that, 503 at once
    return waiting
