"""The route of Streamlit's own scripts and styles, compressed once each: the server itself sends them as they are, three megabytes to
a browser that comes for the first time."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from threading import Lock

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from streamlit.file_util import get_static_dir

FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
"""The header of files that browsers may keep for ever, since a new one has a new address."""
PACKED = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
MEDIA = {".js": "text/javascript", ".css": "text/css"}
"""The media type of each kind of file that is compressed."""
_one_at_a_time = Lock()


def static_route(prefix: str = "") -> Route:
    """``<prefix>/static/<path>``: a file of Streamlit's front end; 404 where there is none."""
    folder = Path(get_static_dir()) / "static"

    def file(request: Request) -> Response:
        path = (folder / request.path_params["path"]).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file():
            return PlainTextResponse(
                "There is no file of this name; reload the page.", 404, {"Cache-Control": "no-store"}
            )
        media = MEDIA.get(path.suffix)
        if media is None or "gzip" not in request.headers.get("accept-encoding", ""):
            return FileResponse(path, media_type=media, headers=FOR_EVER)
        with _one_at_a_time:  # a class that comes at once waits for one compression, not for thirty
            packed = _packed(path)
        return Response(packed, media_type=media, headers=FOR_EVER | PACKED)

    return Route(f"{prefix}/static/{{path:path}}", file, methods=["GET"])


@cache
def _packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), compresslevel=6)
