"""The arguments of ``st.App`` besides the pages: routes, middleware, and objects that live as long as the process."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pandas  # noqa: F401  # complete before any page runs: Plotly in one session's thread fails on a half-imported pandas
from anyio import CapacityLimiter, to_thread
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from streamlit import config

from engine.foundation.log import bound_floods
from engine.foundation.provenance import provenance
from pages.parts.boards.component import FOLDER, PLOTLY_ADDRESS, BoardKind, packed_plotly, plotly_script
from pages.parts.boards.live.readable_run import ReadableRun
from pages.parts.web.board_data import Ask, exact_route, lines_route, untrained_route, user_sequence_route
from pages.parts.web.connections import limit_connections
from pages.parts.web.gate import Gate, Take, unlimited
from pages.parts.web.live import Admit, Find, end_requested, everybody, live_route
from pages.parts.web.middleware import FRAMING, AppHeaders, ClientAddress, CountedTabs, SameHostOnly, SameOriginOnly
from pages.parts.web.static_files import FOR_EVER, PACKED, PackedFiles, PageAddress, StyledPage

ReadHealth = Callable[[], Mapping[str, int]]
"""Returns the numbers of ``ready`` and all ``workers``, of ``running`` and ``queued`` runs, and, of the ready workers,
``ready_here``, ``ready_on_cluster`` and their ``machines``."""
FIRST_PAGE_SECONDS = 3.0  # seconds in which the first page has the cores to itself, unless somebody opens a page sooner
POLITE = 0.0002  # seconds after which the importing thread yields to the thread that serves the first page
STOP_CHECK_SECONDS = 0.1
# collections of the middle generation before a full one, five times Python's number: no page answers during a full one
# (docs/load.md)
FULL_COLLECTION = 50


def healthz_route(health: ReadHealth, prefix: str = "") -> Route:
    """``<prefix>/healthz``: numbers as JSON; 503 without a ready worker."""
    limiter = CapacityLimiter(1)  # its own thread, so that it answers even if all others wait

    async def healthz(_: Request) -> Response:
        numbers = dict(await to_thread.run_sync(health, limiter=limiter))
        return JSONResponse(numbers, 200 if numbers["ready"] else 503, headers={"Cache-Control": "no-store"})

    return Route(f"{prefix}/healthz", healthz, methods=["GET"])


def plotly_route(prefix: str = "") -> Route:
    """``<prefix>/plotly-<version>.min.js``, compressed if the browser accepts it and the compressed script is ready."""

    def script(request: Request) -> Response:
        ready = packed_plotly.cache_info().currsize > 0
        return _script(plotly_script, packed_plotly if ready else None, request)

    return Route(f"{prefix}/{PLOTLY_ADDRESS}", script, methods=["GET"])


def boards_route(scripts: Callable[[], Mapping[str, BoardKind]], prefix: str = "") -> Route:
    """``<prefix>/boards/<name>-<digest>.js``: the script of a kind of board. ``scripts``: all kinds by address."""

    def script(request: Request) -> Response:
        file = scripts().get(f"{FOLDER}/{request.path_params['name']}")
        if file is None:
            return PlainTextResponse("There is no script of this name; reload the page.", status_code=404)
        return _script(lambda: file.plain, lambda: file.packed, request)

    return Route(f"{prefix}/{FOLDER}/{{name}}", script, methods=["GET"])


def _script(plain: Callable[[], bytes], packed: Callable[[], bytes] | None, request: Request) -> Response:
    if packed is None or "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(plain(), media_type="text/javascript", headers=FOR_EVER)
    return Response(packed(), media_type="text/javascript", headers=FOR_EVER | PACKED)


def serving(
    find: Find,
    start: Callable[[], object],
    stop: Callable[[], object],
    health: ReadHealth,
    ask: Ask,
    admit: Admit = everybody,
    admit_tab: Admit = everybody,
    take_memory: Take = unlimited,
) -> dict[str, Any]:
    """Return the arguments for ``st.App``, which ``streamlit run`` finds only under that name.

    ``start`` is called soon after the server began. ``stop`` is called when the server is asked to end and again when
    it ends; the second call waits for the first. ``admit`` counts event streams, ``admit_tab`` tabs, and
    ``take_memory`` the bytes that visitors send.
    """

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        bound_floods()
        watching = asyncio.create_task(limit_connections().watch())
        waking = [
            asyncio.create_task(to_thread.run_sync(warm_up)),
            asyncio.create_task(later(warm_up_training, start, packed_plotly)),
        ]
        ending = asyncio.create_task(once_end_requested(stop))
        try:
            yield
        finally:
            for task in waking:
                task.cancel()
            await to_thread.run_sync(stop, limiter=CapacityLimiter(1))
            ending.cancel()
            watching.cancel()

    prefix = (config.get_option("server.baseUrlPath") or "").strip("/")
    prefix = f"/{prefix}" if prefix else ""
    framing = os.environ.get(FRAMING, "'self'")
    middleware = [Middleware(ClientAddress), Middleware(AppHeaders, frame_ancestors=framing)]
    if config.get_option("server.allowedHosts"):
        middleware.append(Middleware(SameHostOnly))
    if config.get_option("server.enableCORS"):  # else Streamlit accepts every origin
        middleware.append(Middleware(SameOriginOnly))
    middleware.append(Middleware(CountedTabs, admit=admit_tab))
    middleware.append(Middleware(Gate, take=take_memory))
    middleware.append(Middleware(PackedFiles, prefix=prefix))
    middleware.append(Middleware(PageAddress, prefix=prefix, addresses=_page_addresses))
    middleware.append(Middleware(StyledPage))
    return {
        "routes": [
            live_route(_or_recorded(find), prefix, admit),
            lines_route(_or_recorded(find), prefix, admit),
            exact_route(_or_recorded(find), prefix, admit),
            untrained_route(ask, prefix),
            user_sequence_route(ask, _or_recorded(find), prefix),
            plotly_route(prefix),
            boards_route(_boards_by_address, prefix),
            healthz_route(health, prefix),
        ],
        "middleware": middleware,
        "lifespan": lifespan,
    }


def _or_recorded(find: Find) -> Find:
    def find_any(run_id: str) -> ReadableRun | None:
        from pages.parts.boards.recorded import recorded_runs  # late, as in warm_up

        return next((run for run in recorded_runs().values() if run.id == run_id), None) or find(run_id)

    return find_any


def _boards_by_address() -> dict[str, BoardKind]:
    from pages.parts.boards.live.board import LIVE  # late, as in warm_up
    from pages.parts.boards.panels import FIGURES

    return {source.address: source for source in (LIVE, FIGURES)}


def _page_addresses() -> list[str]:
    from pages.parts.app.earlier import EARLIER  # late, as in warm_up
    from pages.parts.app.frame import PAGES

    return [*(page.address for page in PAGES), *EARLIER]


async def once_end_requested(stop: Callable[[], object]) -> None:
    """Call ``stop`` as soon as the server is asked to end: the server first waits for its answers, and answers wait for
    workers."""
    while not end_requested():
        await asyncio.sleep(STOP_CHECK_SECONDS)
    await to_thread.run_sync(stop, limiter=CapacityLimiter(1))  # all other threads may wait for the workers


async def later(*tasks: Callable[[], object]) -> None:
    await asyncio.sleep(FIRST_PAGE_SECONDS)
    for task in tasks:
        await to_thread.run_sync(task)


def warm_up_training() -> None:
    """Compute what every run needs at first before workers are ready: else a class that presses Train together waits
    for it."""
    from pages.parts.boards.recorded import recorded_runs, recorded_updates, recorded_words  # late, as in warm_up

    provenance()
    recorded_runs()
    recorded_words()
    recorded_updates()  # draws the figures of a run: Plotly imports the parts of a figure with its first one


def warm_up() -> None:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(POLITE)
    try:
        import engine.experiments.issues  # late, all of them: the server listens before the engine and plotly are imported

        assert engine.experiments.issues.ISSUES
    finally:
        sys.setswitchinterval(usual)
    gc.collect()
    gc.freeze()  # full collections skip the objects that live for ever
    gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION)
