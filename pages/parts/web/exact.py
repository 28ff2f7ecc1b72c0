"""The routes of a run's exact numbers: a live board draws arrays from bytes, and lines thinned with five digits.

Read-only, for everybody who knows the run's id.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable

import numpy as np
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from engine.foundation.errors import NoRoom
from pages.parts.boards.live.readable_run import ReadableRun
from pages.parts.web.live import Admit, Find, everybody, visitor_of

GROUPS = ("patterns", "encoding")
"""The fields of a snapshot whose arrays can be requested."""
MOST_LINES = 200
"""The most lines of one answer, more than any figure has."""


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


def lines_route(find: Find, prefix: str = "", admit: Admit = everybody) -> Route:
    """``<prefix>/live/<run id>/lines?name=<line>&name=<line>``: JSON, each line's steps and values; all steps, all digits.

    A line of 50,000 steps is a megabyte. So an answer counts as an event stream of the visitor until it is read, 429 where there
    are enough; all answers are made on one thread, a line at a time, each when the one before has been sent.
    """
    maker = CapacityLimiter(1)

    async def lines(request: Request) -> Response:
        run = await to_thread.run_sync(find, request.path_params["run"])
        if run is None:
            return PlainTextResponse("There is no run with this id; it may have been deleted.", 404)
        names = list(dict.fromkeys(request.query_params.getlist("name")))
        if len(names) > MOST_LINES:
            return PlainTextResponse(f"{len(names)} lines are asked for; allowed are {MOST_LINES} at once.", 400)
        try:
            leave = admit(visitor_of(request))
        except NoRoom as error:
            return PlainTextResponse(str(error), 429)
        return Lines(_told(run, names, maker), leave)

    return Route(f"{prefix}/live/{{run}}/lines", lines, methods=["GET"])


class Lines(StreamingResponse):
    """The answer with a run's lines. ``leave`` is called when it has ended, however it ends."""

    def __init__(self, told: AsyncIterator[str], leave: Callable[[], None]) -> None:
        super().__init__(told, media_type="application/json", headers={"Cache-Control": "no-store"})
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


async def _told(run: ReadableRun, names: list[str], maker: CapacityLimiter) -> AsyncIterator[str]:
    from pages.parts.boards.live.columns import exact_column  # late, as below

    def line(name: str) -> str | None:
        column = exact_column(run.events, name)
        return None if column is None else f"{json.dumps(name)}:{json.dumps(column)}"

    begin = "{"
    for name in names:
        told = await to_thread.run_sync(line, name, limiter=maker)
        if told is not None:
            yield begin + told
            begin = ","
    yield "{}" if begin == "{" else "}"


def array_of(run: ReadableRun, step: int, group: str, name: str) -> np.ndarray | None:
    """The array of the latest snapshot at that step; None where it is not stored."""
    from engine.runs.events import Snapshot  # late: the server is up before the engine is imported

    look = next((event for event in reversed(run.events.of(Snapshot)) if event.step == step), None)
    arrays = dict(getattr(look, group).items()) if look else {}  # reads a stored one's file once
    return arrays.get(name)
