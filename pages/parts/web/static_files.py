"""Streamlit's scripts and styles, compressed once each: Streamlit sends them uncompressed, three megabytes for a new
browser. And its page, with the styles of the app and a script that runs before Streamlit's."""

import gzip
from collections.abc import Callable, Collection
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir

from engine.foundation.once import once
from engine.settings.names import resolve_name
from pages.parts.app.scripts import joined
from pages.parts.charts.colors import custom_properties

# browsers may cache these files for ever, since a new one has a new address
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
PACKED = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
MEDIA = {".js": "text/javascript", ".css": "text/css"}
PARTS = Path(__file__).parents[1]
SCRIPT = joined(PARTS / "app" / "navigation.js")  # the security headers contain its hash
FOLDER = (Path(get_static_dir()) / "static").resolve()


# part of the page, since nothing else arrives without a connection
NO_CONNECTION = (
    '<p class="no-connection">This page needs a WebSocket connection and has none. Your network may block it. '
    "Try another network, or ask its administrator.</p>"
)


class StyledPage:
    """Middleware that adds :data:`NO_CONNECTION` and the styles of all of the app's pages to the end of Streamlit's
    page: styles that come with a page's elements would move everything. Boards and lessons have their own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        files = sorted(PARTS.rglob("*.css"))
        styles = [file for file in files if "boards" not in file.parts and file.stem != "presenter"]
        self.plain = (FOLDER.parent / "index.html").read_bytes()
        style = f"<style>{custom_properties()}{''.join(file.read_text('utf-8') for file in styles)}</style>"
        self.styled = self.plain.replace(b"</body>", f"{NO_CONNECTION}{style}<script>{SCRIPT}</script></body>".encode())
        self.packed = gzip.compress(self.styled)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if "text/html" not in request_headers.get("accept", ""):
            return await self.app(scope, receive, send)
        pending: list[Message] = []
        answered = False
        packs = "gzip" in request_headers.get("accept-encoding", "")

        async def with_styles(message: Message) -> None:
            """Delay the start of an HTML response until its body shows whether it is Streamlit's page."""
            nonlocal answered
            media = Headers(raw=message.get("headers", ())).get("content-type", "")
            if message["type"] == "http.response.start" and media.startswith("text/html"):
                pending.append(message)
            elif pending and message.get("body") == self.plain:
                pending.clear()
                answered = True
                headers = {"Cache-Control": "no-cache"} | (PACKED if packs else {})
                await HTMLResponse(self.packed if packs else self.styled, headers=headers)(scope, receive, send)
            elif not answered:
                for each in (*pending, message):
                    await send(each)
                pending.clear()

        # Uncompressed, so that the body can be compared; without conditions, since the page of an earlier version has other styles.
        inner_headers = [
            pair for pair in scope["headers"] if pair[0] != b"accept-encoding" and not pair[0].startswith(b"if-")
        ]
        await self.app({**scope, "headers": inner_headers}, receive, with_styles)


class PackedFiles:
    """Middleware that answers ``GET <prefix>/static/<path>`` with a compressed file if the browser accepts one."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app, self.begins = app, f"{prefix}/static/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(self.begins)
        if path and "gzip" in Headers(scope=scope).get("accept-encoding", ""):
            file = (FOLDER / scope["path"].removeprefix(self.begins)).resolve()
            if file.suffix in MEDIA and file.is_relative_to(FOLDER) and file.is_file():
                packed = await to_thread.run_sync(_packed, file)
                answer = Response(packed, media_type=MEDIA[file.suffix], headers=FOR_EVER | PACKED)
                return await answer(scope, receive, send)
        await self.app(scope, receive, send)


@once
def _packed(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), compresslevel=6)


class PageAddress:
    """Middleware that redirects an address in capitals, or with ``_`` for ``-``, if it can mean only one page.
    Streamlit would open the first page."""

    def __init__(self, app: ASGIApp, prefix: str, addresses: Callable[[], Collection[str]]) -> None:
        """``addresses``: those of the pages, called at each request since the pages are imported late."""
        self.app, self._begins, self._addresses = app, f"{prefix}/", addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(self._begins):
            name = scope["path"].removeprefix(self._begins)
            if name != name.lower().replace("_", "-") and (address := resolve_name(name, self._addresses())) != name:
                query = scope["query_string"].decode("latin-1")
                # Relative, since a proxy may have removed the prefix.
                await RedirectResponse(f"{address}?{query}" if query else address)(scope, receive, send)
                return
        await self.app(scope, receive, send)
