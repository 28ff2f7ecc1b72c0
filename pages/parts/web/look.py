"""The routes of what the live board shows without a run: the untrained model of some settings, and a sequence that a reader typed.

Each asks a job for the visitor who asks, so that no page's script waits for it. Where there is no answer, ``problem`` in the JSON
is the reason in one sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from engine.foundation.errors import JobError
from engine.foundation.visitor import Visitor
from engine.settings.errors import Problem
from pages.parts.web.live import Find, visitor_of

if TYPE_CHECKING:  # the server is up before the engine is imported
    from engine.config.run_config import RunConfig
    from engine.foundation.job import Job

Ask = Callable[["Job[Any]", Visitor], Any]
"""The answer to a job that a visitor asks for. Raises JobError with one sentence."""
AskOfVisitor = Callable[["Job[Any]"], Any]
"""The same for one visitor."""
HEADERS = {"Cache-Control": "no-store"}
ASKERS = 256
"""The most threads of a route that wait for answers at once, beside those that pages need: more than a host allows questions."""


def untrained_route(ask: Ask, prefix: str = "") -> Route:
    """``<prefix>/untrained?<settings>``: the message with which a run of these settings begins, as its event stream sends it."""

    def told(query: dict[str, str], ask: AskOfVisitor) -> Any:
        from pages.parts.boards.live.untrained import untrained_message

        return untrained_message(_config_of(query), ask)

    return Route(f"{prefix}/untrained", _answering(told, ask), methods=["GET"])


def own_route(ask: Ask, find: Find, prefix: str = "") -> Route:
    """``<prefix>/own?text=<tokens>&run=<run id>``, or with settings in place of a run: the snapshot of a model that reads the text."""

    def told(query: dict[str, str], ask: AskOfVisitor) -> Any:
        from pages.parts.boards.live.untrained import own_message

        text, run_id = query.pop("text", ""), query.pop("run", "")
        run = find(run_id) if run_id else None
        if run_id and (run is None or run.weights is None):
            raise JobError(str(Problem("run", run_id, "the id of a run that has ended and is kept here")))
        config, weights = (run.config, str(run.weights)) if run is not None else (_config_of(query), "")
        return own_message(config, weights, text, ask)

    return Route(f"{prefix}/own", _answering(told, ask), methods=["GET"])


def _config_of(query: dict[str, str]) -> RunConfig:
    from engine.config.link import from_query
    from engine.settings.errors import ConfigError

    config, problems = from_query(query)
    if problems:
        raise ConfigError(problems)
    return config


def _answering(told: Callable[[dict[str, str], AskOfVisitor], Any], ask: Ask) -> Callable[[Request], Any]:
    askers = CapacityLimiter(ASKERS)

    def body(query: dict[str, str], visitor: Visitor) -> str:
        try:
            answer = told(query, lambda job: ask(job, visitor))
        except (JobError, ValueError) as error:
            answer = {"problem": str(error)}
        return json.dumps(answer, separators=(",", ":"), allow_nan=False)

    async def answer(request: Request) -> Response:
        text = await to_thread.run_sync(body, dict(request.query_params), visitor_of(request), limiter=askers)
        return Response(text, media_type="application/json", headers=HEADERS)

    return answer
