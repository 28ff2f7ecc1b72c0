"""The routes of a run's exact numbers: a live board draws arrays from bytes, and lines thinned with five digits.

Read-only, for everybody who knows the run's id.
"""

from __future__ import annotations

import json

import numpy as np
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pages.parts.boards.live.readable_run import ReadableRun
from pages.parts.web.live import Find

GROUPS = ("patterns", "encoding")
"""The fields of a snapshot whose arrays can be requested."""


def exact_route(find: Find, prefix: str = "") -> Route:
    """``<prefix>/live/<run id>/<step>/<group>/<name>``: float32, little-endian, row by row; the shape is in ``X-Shape``.

    204 where the run has no such array, or no longer has it.
    """

    async def exact(request: Request) -> Response:
        run_id, step, group, name = (request.path_params[part] for part in ("run", "step", "group", "name"))
        if group not in GROUPS:
            return PlainTextResponse(f"group is {group[:40]!r}; allowed is one of {', '.join(GROUPS)}.", 400)
        run = await to_thread.run_sync(find, run_id)
        if run is None:
            return PlainTextResponse("There is no run with this id; it may have been deleted.", 404)
        array = await to_thread.run_sync(array_of, run, step, group, name)
        if array is None:
            return Response(status_code=204)
        headers = {"X-Shape": json.dumps(array.shape), "Cache-Control": "no-store"}
        return Response(array.astype("<f4").tobytes(), media_type="application/octet-stream", headers=headers)

    return Route(f"{prefix}/live/{{run}}/{{step:int}}/{{group}}/{{name}}", exact, methods=["GET"])


def lines_route(find: Find, prefix: str = "") -> Route:
    """``<prefix>/live/<run id>/lines?name=<line>&name=<line>``: JSON, each line's steps and values; all steps, all digits."""

    async def lines(request: Request) -> Response:
        run = await to_thread.run_sync(find, request.path_params["run"])
        if run is None:
            return PlainTextResponse("There is no run with this id; it may have been deleted.", 404)
        told = await to_thread.run_sync(_lines_of, run, set(request.query_params.getlist("name")))
        return Response(told, media_type="application/json", headers={"Cache-Control": "no-store"})

    return Route(f"{prefix}/live/{{run}}/lines", lines, methods=["GET"])


def _lines_of(run: ReadableRun, names: set[str]) -> str:
    from pages.parts.boards.live.columns import exact_columns  # late, as below

    columns = exact_columns(run.events)
    return json.dumps({name: column for name, column in columns.items() if name in names})


def array_of(run: ReadableRun, step: int, group: str, name: str) -> np.ndarray | None:
    """The array of the latest snapshot at that step; None where it is not stored."""
    from engine.runs.events import Snapshot  # late: the server is up before the engine is imported

    look = next((event for event in reversed(run.events.of(Snapshot)) if event.step == step), None)
    arrays = dict(getattr(look, group).items()) if look else {}  # reads a stored one's file once
    return arrays.get(name)
