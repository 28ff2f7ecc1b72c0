"""The routes that serve scripts: Plotly's, and those of the boards. Browsers may keep them for ever: a new one has a new address."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pages.parts.boards.component import FOLDER, PLOTLY_ADDRESS, ScriptFile, packed_plotly, plotly_script

FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def plotly_route(prefix: str = "") -> Route:
    """``<prefix>/plotly-<version>.min.js``, compressed if the browser accepts it and the compressed script is ready."""

    def script(request: Request) -> Response:
        ready = packed_plotly.cache_info().currsize > 0
        return _script(plotly_script, packed_plotly if ready else None, request)

    return Route(f"{prefix}/{PLOTLY_ADDRESS}", script, methods=["GET"])


def boards_route(scripts: Callable[[], Mapping[str, ScriptFile]], prefix: str = "") -> Route:
    """``<prefix>/boards/<name>-<digest>.js``: the script of a kind of board, from ``scripts`` by its address."""

    def script(request: Request) -> Response:
        file = scripts().get(f"{FOLDER}/{request.path_params['name']}")
        if file is None:
            return PlainTextResponse("There is no script of this name; reload the page.", status_code=404)
        return _script(lambda: file.plain, lambda: file.packed, request)

    return Route(f"{prefix}/{FOLDER}/{{name}}", script, methods=["GET"])


def _script(plain: Callable[[], bytes], packed: Callable[[], bytes] | None, request: Request) -> Response:
    if packed is None or "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(plain(), media_type="text/javascript", headers=FOR_EVER)
    packing = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(packed(), media_type="text/javascript", headers=FOR_EVER | packing)
