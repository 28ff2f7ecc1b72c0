"""The middleware that gives a browser its cookie with the first page (:mod:`pages.parts.app.visitor`)."""

from __future__ import annotations

import secrets
from http.cookies import SimpleCookie

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.parts.app.visitor import COOKIE, id_in

SECONDS = 365 * 24 * 3600


class VisitorCookie:
    """Middleware that gives a browser its cookie with the first page.

    ``framed``: whether pages of other sites may frame the app. Browsers send a cookie there only if it says so, and only
    over HTTPS.
    """

    def __init__(self, app: ASGIApp, *, framed: bool) -> None:
        self.app, self.framed = app, framed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or id_in(HTTPConnection(scope).cookies) is not None:
            await self.app(scope, receive, send)
            return

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("set-cookie", set_cookie(secure=scope["scheme"] == "https", framed=self.framed))
            await send(message)

        await self.app(scope, receive, with_cookie)


def set_cookie(*, secure: bool, framed: bool) -> str:
    """The value of the header that sets a fresh cookie."""
    cookie: SimpleCookie = SimpleCookie({COOKIE: secrets.token_urlsafe(32)})
    morsel = cookie[COOKIE]
    morsel["path"], morsel["max-age"], morsel["httponly"], morsel["secure"] = "/", SECONDS, True, secure
    morsel["samesite"] = "None" if secure and framed else "Lax"
    # The standard library knows "Partitioned" from Python 3.14 on.
    return morsel.OutputString() + ("; Partitioned" if secure and framed else "")
