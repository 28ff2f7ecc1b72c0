import base64
import hashlib
import logging
import os
import re
import secrets
from http.cookies import SimpleCookie
from importlib.resources import files
from ipaddress import ip_address
from typing import cast
from urllib.parse import urlsplit

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from engine.foundation.errors import NoRoom
from engine.foundation.visitor import Visitor
from pages.parts.app.visitor import COOKIE, id_in, plain_address, shared_address
from pages.parts.web.live import Admit
from pages.parts.web.static_files import SCRIPT

TRUSTED = "FORWARDED_ALLOW_IPS"  # uvicorn's variable: the addresses of the trusted proxies
THIS_MACHINE = "127.0.0.1, ::1"  # the trusted proxies by default
FRAMING = "ATTENTION_LAB_FRAME_ANCESTORS"
"""Environment variable: the sites that may frame the app, as in the policy, for example ``'self'
https://school.example``."""
PRIVATE = "/_stcore/metrics"  # a path of Streamlit's that shows every visitor how many others there are
FRAMED = "; SameSite=None; Partitioned"  # for a cookie that a browser keeps in a frame of another site
TOKEN = b"_streamlit_xsrf="
SECONDS = 365 * 24 * 3600


class ClientAddress:
    """Middleware that reads X-Forwarded-For and X-Forwarded-Proto as uvicorn does, after rewriting a mapped IPv4
    address.

    Streamlit listens to IPv4 and IPv6 by default; a proxy at 10.0.0.5 is then ``::ffff:10.0.0.5``, which uvicorn does
    not recognize.
    """

    def __init__(self, app: ASGIApp) -> None:
        # Uvicorn and Starlette declare the same messages under different types.
        self.app = cast(ASGIApp, ProxyHeadersMiddleware(app, os.environ.get(TRUSTED, THIS_MACHINE)))  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("client"):
            host, port = scope["client"]
            scope = {**scope, "client": (plain_address(host), port)}
        await self.app(scope, receive, send)


_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def security_headers(frame_ancestors: str = "'self'") -> dict[str, str]:
    """Return the headers for all responses. ``frame_ancestors``: sources in the policy's form. Raises ValueError for a
    character that would end the directive."""
    if any(sign in frame_ancestors for sign in ";,\r\n"):
        allowed = "sources separated by spaces, such as 'self' https://school.example"
        raise ValueError(f"{FRAMING} is {frame_ancestors!r}; it must be {allowed}.")
    policy = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", "blob:", *inline_script_hashes()]),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": frame_ancestors.strip() or "'none'",
    }
    headers = {
        "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if frame_ancestors.strip() == "'self'":
        headers["X-Frame-Options"] = "SAMEORIGIN"
    return headers


def inline_script_hashes() -> list[str]:
    page = files("streamlit").joinpath("static", "index.html").read_text(encoding="utf-8")
    digests = (hashlib.sha256(script.encode()).digest() for script in (*_INLINE.findall(page), SCRIPT))
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


class AppHeaders:
    """Middleware that adds the security headers to every answer and a cookie to a browser's first page, and answers 404
    for :data:`PRIVATE`. Streams pass unbuffered.

    Where pages of other sites may frame the app, browsers send a cookie there only if it says so, and only over HTTPS.
    """

    def __init__(self, app: ASGIApp, frame_ancestors: str) -> None:
        self.app, self.headers = app, security_headers(frame_ancestors)
        self.framed = frame_ancestors.strip() != "'self'"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        known = id_in(HTTPConnection(scope).cookies) is not None

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                secure = scope["scheme"] == "https"
                if self.framed and secure:
                    message["headers"] = [(name, framed_token(name, value)) for name, value in message["headers"]]
                present = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    present.setdefault(name, value)
                if not known and present.get("content-type", "").startswith("text/html"):
                    present.append("set-cookie", set_cookie(secure=secure, framed=self.framed))
            await send(message)

        app = PlainTextResponse("Not found.", 404) if scope["path"].endswith(PRIVATE) else self.app
        await app(scope, receive, with_headers)


def set_cookie(*, secure: bool, framed: bool) -> str:
    cookie: SimpleCookie = SimpleCookie({COOKIE: secrets.token_urlsafe(32)})
    morsel = cookie[COOKIE]
    morsel["path"], morsel["max-age"], morsel["httponly"], morsel["secure"] = "/", SECONDS, True, secure
    # The standard library knows "Partitioned" from Python 3.14 on.
    return morsel.OutputString() + (FRAMED if secure and framed else "; SameSite=Lax")


def framed_token(name: bytes, value: bytes) -> bytes:
    """Return the value of a header, changed for Streamlit's XSRF cookie so that it also works in a frame of another
    site."""
    if name.lower() != b"set-cookie" or not value.startswith(TOKEN):
        return value
    return value.partition(b";")[0] + b"; Path=/; Secure" + FRAMED.encode()


REFUSED = (
    "A websocket was refused: its Origin is %.200r, its Host %.200r. Your proxy must pass on the "
    "Host, or name the Origin in server.corsAllowedOrigins."
)
_PORTS = {"http": 80, "https": 443}
_log = logging.getLogger(__name__)


def website_of(address: str, scheme: str = "") -> tuple[str, int] | None:
    """Return host and port of an address such as ``https://lab.example.org``; ``scheme`` is for an address without one.

    None if it is not the address of a website, such as ``null``, which a browser sends for a page without an origin.
    """
    try:
        parts = urlsplit(address if "://" in address else f"{scheme}://{address}")
        port = _PORTS[parts.scheme] if parts.port is None else parts.port
    except (ValueError, KeyError):
        return None
    return (parts.hostname, port) if parts.hostname and "@" not in parts.netloc else None


def configured_origins() -> list[str]:
    """Return the origins in ``server.corsAllowedOrigins`` and ``browser.serverAddress``; without a scheme, http and
    https are allowed."""
    origins = [origin.strip() for origin in config.get_option("server.corsAllowedOrigins")]
    if config.is_manually_set("browser.serverAddress"):
        address = config.get_option("browser.serverAddress").rpartition("://")[2].partition("/")[0]
        origins += [address, f"{address}:{config.get_option('browser.serverPort')}"]
    return origins


THREADS = 4  # count the tabs, so that a tab opens while all others wait: the first tab makes the pool


class CountedTabs:
    """Middleware that counts the open websockets of each visitor, one per tab, and answers one too many with 429 and
    one sentence. ``admit`` counts one and returns the function that releases it.

    Without cookies each tab is its own visitor, as for the pages; then only its address counts.
    """

    def __init__(self, app: ASGIApp, admit: Admit) -> None:
        self.app, self.admit = app, admit
        self.threads = CapacityLimiter(THREADS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        address = shared_address(connection.client.host if connection.client else "")
        visitor = Visitor(id_in(connection.cookies) or secrets.token_hex(8), address)
        try:
            leave = await to_thread.run_sync(self.admit, visitor, limiter=self.threads)
        except NoRoom as error:
            await WebSocket(scope, receive, send).send_denial_response(PlainTextResponse(str(error), 429))
            return
        try:
            await self.app(scope, receive, send)
        finally:
            leave()


class SameHostOnly:
    """Middleware that answers a request for a host outside ``server.allowedHosts`` with 400. Streamlit itself checks
    websockets only."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self.is_own(Headers(scope=scope).get("host", "")):
            await PlainTextResponse("There is no app under this host.", 400)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def is_own(self, host: str) -> bool:
        # IP addresses and localhost too: no attacker can redirect them, and health checks of a host use them.
        if is_host_allowed(host):
            return True
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name == "localhost" or bool(ip_address(name))
        except ValueError:
            return False


class SameOriginOnly:
    """Middleware that answers a websocket of another website with 403.

    Streamlit refuses it too, but first asks an internet service for its own address, and is blocked meanwhile.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.allowed = app, configured_origins()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            headers = Headers(scope=scope)
            origin, host = headers.get("origin"), headers.get("host", "")
            if origin is not None and not self.is_own(origin, host):
                _log.warning(REFUSED, origin, host)
                await WebSocket(scope, receive, send).close(code=1008)  # a 403, since it was not accepted yet
                return
            if origin is not None and urlsplit(origin).netloc != host:
                # Streamlit compares text, and would now ask for its own address even if the configuration names the
                # origin. Without an Origin, as from a program, it checks only the Host.
                scope = {**scope, "headers": [item for item in scope["headers"] if item[0] != b"origin"]}
        await self.app(scope, receive, send)

    def is_own(self, origin: str, host: str) -> bool:
        """Return whether an Origin is the Host's own, or one of the allowed origins.

        The Host does not say whether a proxy uses TLS; so if it names no port, the Origin's scheme decides.
        """
        site, scheme = website_of(origin), origin.partition("://")[0]
        return site is not None and site in {website_of(address, scheme) for address in (host, *self.allowed)}
