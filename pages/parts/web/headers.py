"""Security headers on every response: the sources that a page may load, and the sites that may frame it."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FRAMING = "ATTENTION_LAB_FRAME_ANCESTORS"
"""Environment variable: the sites that may frame the app, in the policy's form, for example ``'self' https://school.example``."""
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def security_headers(frame_ancestors: str = "'self'") -> dict[str, str]:
    """The headers for all responses; ``frame_ancestors`` is a list of sources in the policy's form."""
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
        "frame-ancestors": _one_line(frame_ancestors),
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
    """The sources that allow the inline scripts of Streamlit's own index.html, whatever its version holds."""
    page = files("streamlit").joinpath("static", "index.html").read_text(encoding="utf-8")
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(page))
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def _one_line(sources: str) -> str:
    if any(sign in sources for sign in ";,\r\n"):
        raise ValueError(
            f"{FRAMING} is {sources!r}; allowed are sources separated by spaces, such as 'self' https://school.example."
        )
    return sources.strip() or "'none'"


PRIVATE = "/_stcore/metrics"
"""A path of Streamlit's own that tells every visitor how many others there are."""


class SecurityHeaders:
    """Middleware that adds the headers, passes streams on unbuffered and knows nothing of :data:`PRIVATE`."""

    def __init__(self, app: ASGIApp, headers: dict[str, str]) -> None:
        self.app, self.headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    present.setdefault(name, value)
            await send(message)

        app = PlainTextResponse("Not found.", 404) if scope["path"].endswith(PRIVATE) else self.app
        await app(scope, receive, with_headers)
