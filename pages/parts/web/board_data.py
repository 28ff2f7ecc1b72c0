"""The read-only routes of a board besides its event stream: a run's exact numbers, the untrained model of given
settings, and a model's reading of a sequence, which a reader may have typed, with or without ablated parts.

Everybody who knows the id of a run may have its numbers; the live board itself has arrays as bytes, and thinned lines
of five digits. A reading is a job of the visitor, so that no page's script waits for it. A failed one has the reason,
one sentence, as ``problem`` in its JSON.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from anyio import CapacityLimiter, to_thread
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from engine.foundation.errors import JobError, NoRoom
from engine.foundation.visitor import Visitor
from engine.settings.errors import Problem
from pages.parts.boards.live.readable_run import ReadableRun
from pages.parts.web.live import NO_RUN, Admit, CountedAnswer, Find, everybody, visitor_of

if TYPE_CHECKING:  # the server starts before the engine is imported
    from engine.config.run_config import RunConfig
    from engine.foundation.job import Job

GROUPS = ("patterns", "encoding")
MAX_LINES = 200  # more than any figure has
Ask = Callable[["Job[Any]", Visitor], Any]
"""Answers a job for a visitor. Raises JobError with one sentence."""
AskOfVisitor = Callable[["Job[Any]"], Any]
SEQUENCE_PARAMETERS = ("text", "run", "without")  # names in the query of a typed sequence that are not settings
HEADERS = {"Cache-Control": "no-store"}
ASKERS = 256  # threads of a route that wait for answers, besides those of pages: more than a host allows questions


def exact_route(find: Find, prefix: str = "", admit: Admit = everybody) -> Route:
    """``<prefix>/live/<run id>/<step>/<group>/<name>``: float32, little-endian, row by row; the shape is in
    ``X-Shape``.

    204 if the run does not have the array, or no longer. An answer counts as a stream of the visitor, as in
    :func:`lines_route`.
    """

    async def exact(request: Request) -> Response | CountedAnswer:
        run_id, step, group, name = (request.path_params[part] for part in ("run", "step", "group", "name"))
        if group not in GROUPS:
            return PlainTextResponse(f"group is {group[:40]!r}; it must be one of {', '.join(GROUPS)}.", 400)
        run = await to_thread.run_sync(find, run_id)
        if run is None:
            return PlainTextResponse(NO_RUN, 404)
        try:
            leave = admit(visitor_of(request))
        except NoRoom as error:
            return PlainTextResponse(str(error), 429)
        try:
            array = await to_thread.run_sync(array_of, run, step, group, name)
        except BaseException:
            leave()
            raise
        if array is None:
            return CountedAnswer(Response(status_code=204), leave)
        headers = HEADERS | {"X-Shape": json.dumps(array.shape)}
        body = array.astype("<f4").tobytes()
        return CountedAnswer(Response(body, media_type="application/octet-stream", headers=headers), leave)

    return Route(f"{prefix}/live/{{run}}/{{step:int}}/{{group}}/{{name}}", exact, methods=["GET"])


def lines_route(find: Find, prefix: str = "", admit: Admit = everybody) -> Route:
    """``<prefix>/live/<run id>/lines?name=<line>&name=<line>``: JSON with the steps and values of each line, all of
    them at full precision.

    A line of 50,000 steps is a megabyte. So an answer counts as an event stream of the visitor until it is read, and is
    429 above the limit. One thread makes all answers, line by line, each when the one before has been sent.
    """
    maker = CapacityLimiter(1)

    async def lines(request: Request) -> Response | CountedAnswer:
        run = await to_thread.run_sync(find, request.path_params["run"])
        if run is None:
            return PlainTextResponse(NO_RUN, 404)
        names = list(dict.fromkeys(request.query_params.getlist("name")))
        if len(names) > MAX_LINES:
            return PlainTextResponse(f"{len(names)} lines were requested; the limit is {MAX_LINES} at once.", 400)
        try:
            leave = admit(visitor_of(request))
        except NoRoom as error:
            return PlainTextResponse(str(error), 429)
        reply = StreamingResponse(_answer(run, names, maker), media_type="application/json", headers=HEADERS)
        return CountedAnswer(reply, leave)

    return Route(f"{prefix}/live/{{run}}/lines", lines, methods=["GET"])


async def _answer(run: ReadableRun, names: list[str], maker: CapacityLimiter) -> AsyncIterator[str]:
    from pages.parts.boards.live.columns import exact_column  # late, as in array_of

    def line(name: str) -> str | None:
        column = exact_column(run.events, name)
        return None if column is None else f"{json.dumps(name)}:{json.dumps(column)}"

    begin = "{"
    for name in names:
        reply = await to_thread.run_sync(line, name, limiter=maker)
        if reply is not None:
            yield begin + reply
            begin = ","
    yield "{}" if begin == "{" else "}"


def array_of(run: ReadableRun, step: int, group: str, name: str) -> np.ndarray | None:
    """Return the array of the latest snapshot at that step; None if it is not stored."""
    from engine.runs.events import Snapshot  # late: the server starts before the engine is imported

    snapshot = next((event for event in reversed(run.events.of(Snapshot)) if event.step == step), None)
    arrays = dict(getattr(snapshot, group).items()) if snapshot else {}  # one read of the file
    return arrays.get(name)


def untrained_route(ask: Ask, prefix: str = "") -> Route:
    """``<prefix>/untrained?<settings>``: the first message of a run with these settings, as its event stream sends it."""

    def reply(query: QueryParams, ask: AskOfVisitor) -> Any:
        from pages.parts.boards.live.model_messages import untrained_message

        return untrained_message(_config_of(dict(query)), ask)

    return Route(f"{prefix}/untrained", _answering(reply, ask), methods=["GET"])


def user_sequence_route(ask: Ask, find: Find, prefix: str = "") -> Route:
    """``<prefix>/own?text=<tokens>&run=<run id>``, or settings instead of a run: the snapshot of a model that reads the
    text.

    An empty text means the run's probe sequence. Each ``without=<part>`` ablates a part
    (:mod:`engine.analysis.attention.parts`).
    """

    def reply(query: QueryParams, ask: AskOfVisitor) -> Any:
        from pages.parts.boards.live.model_messages import user_sequence_message

        text, run_id, without = query.get("text", ""), query.get("run", ""), query.getlist("without")
        run = find(run_id) if run_id else None
        if run_id and (run is None or run.weights is None):
            raise JobError(str(Problem("run", run_id, "the id of an ended run on this server")))
        settings = {name: value for name, value in query.items() if name not in SEQUENCE_PARAMETERS}
        config, weights = (run.config, str(run.weights)) if run is not None else (_config_of(settings), "")
        return user_sequence_message(config, weights, text, ask, without)

    return Route(f"{prefix}/own", _answering(reply, ask), methods=["GET"])


def _config_of(query: dict[str, str]) -> RunConfig:
    from engine.config.link import from_query
    from engine.settings.errors import ConfigError

    config, problems = from_query(query)
    if problems:
        raise ConfigError(problems)
    return config


def _answering(reply: Callable[[QueryParams, AskOfVisitor], Any], ask: Ask) -> Callable[[Request], Any]:
    askers = CapacityLimiter(ASKERS)

    def body(query: QueryParams, visitor: Visitor) -> str:
        try:
            answer = reply(query, lambda job: ask(job, visitor))
        except (JobError, ValueError) as error:
            answer = {"problem": str(error)}
        return json.dumps(answer, separators=(",", ":"), allow_nan=False)

    async def answer(request: Request) -> Response:
        text = await to_thread.run_sync(body, request.query_params, visitor_of(request), limiter=askers)
        return Response(text, media_type="application/json", headers=HEADERS)

    return answer
