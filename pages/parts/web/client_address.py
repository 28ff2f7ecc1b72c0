"""The middleware that finds the network address and the scheme of the browser behind a proxy, for all other middleware and routes."""

from __future__ import annotations

import os
from typing import cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from pages.parts.app.visitor import plain_address

TRUSTED = "FORWARDED_ALLOW_IPS"
"""Environment variable, uvicorn's own: the addresses of the proxies whose X-Forwarded-For and X-Forwarded-Proto are believed."""
THIS_MACHINE = "127.0.0.1, ::1"
"""The proxies that are believed where the variable names none."""


class ClientAddress:
    """Middleware that reads X-Forwarded-For and X-Forwarded-Proto as uvicorn does, once it has written the connection's address plainly.

    Streamlit listens to IPv4 and IPv6 at once by default; a proxy at 10.0.0.5 then comes from ``::ffff:10.0.0.5``, which uvicorn
    itself takes for a stranger.
    """

    def __init__(self, app: ASGIApp) -> None:
        # Uvicorn and Starlette declare the same messages under different types.
        self.app = cast(ASGIApp, ProxyHeadersMiddleware(app, os.environ.get(TRUSTED, THIS_MACHINE)))  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("client"):
            host, port = scope["client"]
            scope = {**scope, "client": (plain_address(host), port)}
        await self.app(scope, receive, send)
