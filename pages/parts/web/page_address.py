"""The middleware that leads from a page's address in other letters to its own: ``/Lab?task=sort`` to ``lab?task=sort``."""

from collections.abc import Callable, Collection

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from engine.settings.names import meant


class PageAddress:
    """Redirect an address in capitals, or with ``_`` for ``-``, where it can mean one page only. Streamlit would open the first page."""

    def __init__(self, app: ASGIApp, prefix: str, addresses: Callable[[], Collection[str]]) -> None:
        """``prefix``: what all addresses begin with. ``addresses``: those of the pages, read at a request since they are imported late."""
        self.app, self._begins, self._addresses = app, f"{prefix}/", addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"].startswith(self._begins):
            name = scope["path"].removeprefix(self._begins)
            if name != name.lower().replace("_", "-") and (address := meant(name, self._addresses())) != name:
                query = scope["query_string"].decode("latin-1")
                # Relative, since a proxy may have taken away what the address begins with.
                await RedirectResponse(f"{address}?{query}" if query else address)(scope, receive, send)
                return
        await self.app(scope, receive, send)
