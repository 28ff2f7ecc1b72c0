"""The live-event route: a run's events as server-sent events. Read-only, for everybody who knows the run's id.

sse-starlette frames the messages, notices a browser that has gone, and tells each stream when the server is asked to stop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

from anyio import Event, to_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from engine.settings.errors import Problem
from engine.settings.fields import whole_number
from pages.parts.boards.live.readable_run import ReadableRun, has_ended

BEAT = 0.05
"""Seconds between two checks of a run: half of a worker's batch, so that no batch waits for the next."""
FIRST_BEAT = 0.01
"""The same before a run's first step, when somebody has just pressed Train."""
KEEP_ALIVE = 15
"""Seconds between two comments, so that proxies do not close a silent connection."""
GRACE = 2.0
"""Seconds that a stream has to end by itself when the server stops."""
RECONNECT = 1000
"""Milliseconds after which a browser whose connection broke asks again."""
MOST_EVENTS = 10**9
"""The largest event number that is accepted: more than any run has."""
HEADERS = {"Cache-Control": "no-store, no-transform"}

Find = Callable[[str], ReadableRun | None]
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
        stopping = Event()
        told = stream(run, after, stopping)
        return EventSourceResponse(
            told, headers=HEADERS, ping=KEEP_ALIVE, shutdown_event=stopping, shutdown_grace_period=GRACE
        )

    return Route(f"{prefix}/live/{{run}}", live, methods=["GET"])


async def stream(run: ReadableRun, after: int, stopping: Event, beat: float = BEAT) -> AsyncIterator[ServerSentEvent]:
    """One message at once, then one whenever there are new events, until the run has ended and all are sent.

    ``stopping`` is set when the server is asked to stop; the server then waits until every stream has ended.
    """
    from pages.parts.boards.live.feed import feed  # late: the server is up before plotly is

    said, step = None, 0
    while not stopping.is_set():
        now = (len(run.events), run.state, run.queue_place)
        if now != said:
            payload, after = await to_thread.run_sync(feed, run, after)
            text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
            yield ServerSentEvent(text, id=str(after), retry=RECONNECT)
            said, step = (after, *now[1:]), payload["status"]["step"]
            if payload["end"]:
                return
        await asyncio.sleep(min(beat, FIRST_BEAT) if now[1] == "running" and not step else beat)
