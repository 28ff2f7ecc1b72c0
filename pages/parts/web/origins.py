"""The websites that may open a websocket to the app: its own, and those that the configuration names."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import config

_PORTS = {"http": 80, "https": 443}
"""The port of an address that names none, by scheme."""
_log = logging.getLogger(__name__)


class Place(NamedTuple):
    """Host and port: equal for two addresses that the same server answers."""

    host: str
    port: int


def place_of(address: str, scheme: str = "") -> Place | None:
    """Host and port of an address such as ``https://lab.example.org``; ``scheme`` is for an address that names none.

    None where it is not the address of a website, such as ``null``, which a browser sends for a page without an origin.
    """
    try:
        parts = urlsplit(address if "://" in address else f"{scheme}://{address}")
        port = _PORTS[parts.scheme] if parts.port is None else parts.port
    except (ValueError, KeyError):
        return None
    return Place(parts.hostname, port) if parts.hostname and "@" not in parts.netloc else None


def configured_origins() -> list[str]:
    """The origins in ``server.corsAllowedOrigins`` and ``browser.serverAddress``; without a scheme, both are allowed."""
    named = [origin.strip() for origin in config.get_option("server.corsAllowedOrigins")]
    if config.is_manually_set("browser.serverAddress"):
        address = config.get_option("browser.serverAddress").rpartition("://")[2].partition("/")[0]
        named += [address, f"{address}:{config.get_option('browser.serverPort')}"]
    return named


class OwnOriginOnly:
    """Middleware that answers a websocket of a foreign website with 403; ``allowed`` are origins besides the app's own.

    Streamlit refuses it too, but first asks a service on the internet for its own address, and is blocked meanwhile.
    """

    def __init__(self, app: ASGIApp, allowed: Iterable[str] = ()) -> None:
        self.app, self.allowed = app, tuple(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            origin, host = headers.get("origin"), headers.get("host", "")
            if origin is not None and not self.is_own(origin, host):
                _log.warning(
                    "A websocket was refused: its Origin is %.200r, its Host %.200r. If this is a proxy of yours, "
                    "pass on the Host, or name the Origin in server.corsAllowedOrigins.",
                    origin,
                    host,
                )
                await WebSocket(scope, receive, send).close(code=1008)  # before it was accepted, this is a 403
                return
            if origin is not None and urlsplit(origin).netloc != host:
                # Streamlit, which compares the text, would now ask for its own address, even where the configuration
                # names the origin. Without an Origin, as from a program, it checks the Host alone.
                scope = {**scope, "headers": [item for item in scope["headers"] if item[0] != b"origin"]}
        await self.app(scope, receive, send)

    def is_own(self, origin: str, host: str) -> bool:
        """Whether an Origin is the Host's own, or one of the allowed origins.

        The Host does not tell whether a proxy in front uses TLS; so where it names no port, the Origin's scheme decides.
        """
        given, scheme = place_of(origin), origin.partition("://")[0]
        return given is not None and given in {place_of(address, scheme) for address in (host, *self.allowed)}
