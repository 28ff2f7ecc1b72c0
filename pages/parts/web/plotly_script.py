"""Plotly's script as the installed package ships it: no other host, packed once, cached by browsers for ever."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files

from plotly import __version__
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ADDRESS = f"plotly-{__version__}.min.js"
"""Relative to the app; a new version has a new address."""
FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def plotly_route(prefix: str = "") -> Route:
    def script(request: Request) -> Response:
        ready = packed.cache_info().currsize > 0  # packing takes longer than a first page should wait
        if not ready or "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(plain(), media_type="text/javascript", headers=FOR_EVER)
        return Response(
            packed(),
            media_type="text/javascript",
            headers=FOR_EVER | {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
        )

    return Route(f"{prefix}/{ADDRESS}", script, methods=["GET"])


def plain() -> bytes:
    return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()


@cache
def packed() -> bytes:
    return gzip.compress(plain(), compresslevel=6)
