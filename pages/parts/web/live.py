"""The live-event route: a run's events as server-sent events. Read-only, for everybody who knows the run's id."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from engine.settings.errors import Problem
from engine.settings.fields import whole_number
from pages.parts.boards.live.watched import Watched, has_ended
from pages.parts.web.leaving import is_leaving

BEAT = 0.05
"""Seconds between two checks of a run: half of a worker's batch, so that no batch waits for the next."""
FIRST_BEAT = 0.01
"""The same before a run's first step, when somebody has just pressed Train."""
KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment is sent, so that proxies do not close the connection."""
MOST_EVENTS = 10**9
"""The largest event number that is accepted: more than any run has."""
HEADERS = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}

Find = Callable[[str], Watched | None]
"""A run by its id, or None."""


def live_route(find: Find, prefix: str = "") -> Route:
    """``<prefix>/live/<run id>?after=<event number>``; the Last-Event-ID of a reconnecting browser overrides ``after``."""

    async def live(request: Request) -> Response:
        run = await to_thread.run_sync(find, request.path_params["run"])
        if run is None:
            return PlainTextResponse("There is no run with this id; it may have been deleted.", 404)
        given = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        after = whole_number(given, 0, MOST_EVENTS)
        if after is None:
            return PlainTextResponse(str(Problem("after", given, f"a whole number from 0 to {MOST_EVENTS}")), 400)
        if "last-event-id" in request.headers and has_ended(run) and after >= len(run.events):
            return Response(status_code=204)  # An EventSource does not reconnect after this.
        return StreamingResponse(stream(run, after), media_type="text/event-stream", headers=HEADERS)

    return Route(f"{prefix}/live/{{run}}", live, methods=["GET"])


async def stream(run: Watched, after: int, beat: float = BEAT) -> AsyncIterator[str]:
    """One message at once, then one whenever there are new events, until the run has ended and all are sent."""
    from pages.parts.boards.live.feed import feed  # late: the server is up before plotly is

    yield "retry: 1000\n\n"
    said, step, silent = None, 0, 0.0
    while not is_leaving():
        now = (len(run.events), run.state, run.queue_place)
        if now != said:
            payload, after = await to_thread.run_sync(feed, run, after)
            yield f"id: {after}\ndata: {json.dumps(payload, separators=(',', ':'), allow_nan=False)}\n\n"
            said, step, silent = (after, *now[1:]), payload["status"]["step"], 0.0
            if payload["end"]:
                return
        elif silent >= KEEP_ALIVE:
            yield ": still here\n\n"
            silent = 0.0
        pause = min(beat, FIRST_BEAT) if now[1] == "running" and not step else beat
        await asyncio.sleep(pause)
        silent += pause
