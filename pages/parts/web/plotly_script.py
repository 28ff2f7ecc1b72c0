"""The route that serves Plotly's script; browsers may cache it for ever."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.parts.charts.plotly_file import ADDRESS, packed, plain

FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def plotly_route(prefix: str = "") -> Route:
    """``<prefix>/plotly-<version>.min.js``, compressed if the browser accepts it and the compressed script is ready."""

    def script(request: Request) -> Response:
        ready = packed.cache_info().currsize > 0
        if not ready or "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(plain(), media_type="text/javascript", headers=FOR_EVER)
        return Response(
            packed(),
            media_type="text/javascript",
            headers=FOR_EVER | {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
        )

    return Route(f"{prefix}/{ADDRESS}", script, methods=["GET"])
