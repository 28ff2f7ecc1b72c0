"""The route by which a proxy or a monitor asks whether the app can do its work: 200 while a worker is ready, else 503."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Health = Callable[[], Mapping[str, int]]
"""``ready``, ``workers``, ``running`` and ``queued``: the workers that are ready and all, the runs that go and that wait.
``ready_here``, ``ready_on_cluster`` and ``machines``: where those that are ready are."""


def healthz_route(health: Health, prefix: str = "") -> Route:
    """``<prefix>/healthz``: a few numbers as JSON. It has a thread of its own, so that it answers whatever the others wait for."""
    own = CapacityLimiter(1)

    async def healthz(_: Request) -> Response:
        numbers = dict(await to_thread.run_sync(health, limiter=own))
        return JSONResponse(numbers, 200 if numbers["ready"] else 503, headers={"Cache-Control": "no-store"})

    return Route(f"{prefix}/healthz", healthz, methods=["GET"])
