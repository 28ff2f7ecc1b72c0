"""The live-event route: a run's events as server-sent events. Read-only, for everybody who knows the run's id.

sse-starlette frames the messages, detects a disconnected browser, and notifies each stream when the server is asked to
stop.
"""

import asyncio
import json
import secrets
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, Event, move_on_after, to_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import AppStatus, SendTimeoutError
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from engine.foundation.errors import NoRoom
from engine.foundation.visitor import RateLimit, Visitor
from engine.settings.errors import Problem
from engine.settings.fields import whole_number
from pages.parts.app.visitor import id_in, shared_address
from pages.parts.boards.live.readable_run import ReadableRun
from pages.parts.web.connections import on_signal

# The messages, as bytes: each is made once for all listeners


SERVER = secrets.token_hex(4)  # of this server process: a page that receives another one reloads
RECONNECT = 1000  # milliseconds until a browser reconnects
MAX_MESSAGES = 32  # of one run, for the next listeners
MAX_MESSAGES_BYTES = 4 * 2**20  # of these messages, without the latest
RECENT = 8  # runs whose messages stay in memory without listeners, for a reload or a shared link


class RunVersion(NamedTuple):
    """The number of a run's events, and its state and queue position, which are not events."""

    events: int
    state: str = ""
    queue_position: int | None = None


@dataclass(frozen=True)
class Message:
    """The changes of a run between two versions."""

    body: bytes  # a server-sent event; its id is the number of events
    upto: RunVersion
    last: bool
    """True if no message follows: the run has ended, or continues on another server and is unchanged since it was read."""


class Messages:
    """The messages of one run. All methods may be called from any thread.

    A message begins where another one ended or where a listener joined. So all listeners soon get the same messages,
    although they ask at different times.
    """

    def __init__(self, run: ReadableRun) -> None:
        self.run = run
        # By the version at which a message begins, the oldest first.
        self._next: OrderedDict[RunVersion, Message] = OrderedDict()
        self._making = Lock()

    @property
    def now(self) -> RunVersion:
        return RunVersion(len(self.run.events), self.run.state, self.run.queue_position)

    def get(self, version: RunVersion) -> Message | None:
        return self._next.get(version)

    def make(self, version: RunVersion) -> Message:
        """Return the message after a version; others who ask for it meanwhile wait and get the same one."""
        # late: the server starts before plotly is imported
        from pages.parts.boards.live.board_updates import updates_after

        with self._making:
            if (message := self._next.get(version)) is not None:
                return message
            payload, events = updates_after(self.run, version.events)
            status = payload["status"]
            text = json.dumps(payload | {"server": SERVER}, separators=(",", ":"), allow_nan=False)
            body = ServerSentEvent(text, id=str(events), retry=RECONNECT).encode()
            upto = RunVersion(events, status["state"], status["queue_position"])
            message = self._next[version] = Message(body, upto, payload["end"])
            self._next.pop(upto, None)  # a state may return without an event; then another message follows
            size = sum(len(each.body) for each in self._next.values())
            while len(self._next) > 1 and (size > MAX_MESSAGES_BYTES or len(self._next) > MAX_MESSAGES):
                size -= len(self._next.popitem(last=False)[1].body)
            return message


class MessagesOfRuns:
    def __init__(self) -> None:
        # Weak: the messages of a run disappear with its last listener.
        self._listened: WeakValueDictionary[str, Messages] = WeakValueDictionary()
        self._recent: deque[Messages] = deque(maxlen=RECENT)
        self._lock = Lock()

    def of(self, run: ReadableRun) -> Messages:
        with self._lock:
            messages = self._listened.get(run.id)
            if messages is None or messages.run is not run:  # the store may have read the run from disk again
                messages = self._listened[run.id] = Messages(run)
            if messages not in self._recent:
                self._recent.append(messages)
            return messages


# The route


STOP_WITHIN = 1.0  # seconds until an idle stream sees that the server stops
KEEP_ALIVE = 15  # seconds between two comments, so that proxies do not close a silent connection
SEND_SECONDS = 60.0  # seconds until a stream whose reader takes nothing is closed
GRACE = 2.0  # seconds for a stream to end when the server stops
# shortest and longest delay of a refusal, in seconds: a client that retries at once would keep the server busy
REFUSED_AFTER, LATEST = 2.0, 30.0
REFUSALS, AT_ONCE = 1.0, 8.0  # refusals of a visitor per second, and at once; more are delayed
MAKERS = 4  # threads that make messages; pages need the others
MAX_EVENTS = 10**9  # more than any run has
HEADERS = {"Cache-Control": "no-store, no-transform"}
NO_RUN = "There is no run with this id; it may have been deleted."


def end_requested() -> bool:
    # both: the flag of sse-starlette misses a server that began before its import
    return AppStatus.should_exit or bool(getattr(on_signal(), "should_exit", False))


Find = Callable[[str], "ReadableRun | None"]
Admit = Callable[[Visitor], Callable[[], None]]
"""Counts one more stream of a visitor and returns the function that releases it. Raises NoRoom above the limit."""


def everybody(_: Visitor) -> Callable[[], None]:
    return lambda: None


def live_route(find: Find, prefix: str = "", admit: Admit = everybody) -> Route:
    """``<prefix>/live/<run id>?after=<event number>``; the Last-Event-ID of a reconnecting browser overrides ``after``.

    429 with one sentence above the limit of streams: the board then polls.
    """
    messages, makers, refusals = MessagesOfRuns(), CapacityLimiter(MAKERS), RateLimit(REFUSALS, AT_ONCE)

    async def live(request: Request) -> Response | CountedAnswer:
        visitor = visitor_of(request)
        try:
            leave = admit(visitor)
        except NoRoom as error:
            later = refusals.spend(visitor.id, 1)
            await _wait(min(LATEST, max(REFUSED_AFTER, later)))
            return PlainTextResponse(str(error), 429)
        try:
            answer = await _answer(request)
        except BaseException:
            leave()
            raise
        return CountedAnswer(answer, leave)

    async def _answer(request: Request) -> Response:
        run = await to_thread.run_sync(find, request.path_params["run"])
        if run is None:
            return PlainTextResponse(NO_RUN, 404)
        text = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        after = whole_number(text, 0, MAX_EVENTS)
        if after is None:
            return PlainTextResponse(str(Problem("after", text, f"a whole number from 0 to {MAX_EVENTS}")), 400)
        if "last-event-id" in request.headers and not run.live and after >= len(run.events):
            return Response(status_code=204)  # An EventSource does not reconnect after this.
        stopping = Event()
        return EventSourceResponse(
            stream(messages.of(run), after, stopping, makers), headers=HEADERS, ping=KEEP_ALIVE, send_timeout=SEND_SECONDS,
            shutdown_event=stopping, shutdown_grace_period=GRACE,
        )  # fmt: skip

    return Route(f"{prefix}/live/{{run}}", live, methods=["GET"])


class CountedAnswer:
    """An answer that counts as a stream of the visitor: ``leave`` is called at its end, also after an error."""

    def __init__(self, answer: Response, leave: Callable[[], None]) -> None:
        self._answer, self._leave = answer, leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(SendTimeoutError):
                await self._answer(scope, receive, send)
        finally:
            self._leave()


async def stream(
    messages: Messages, after: int, stopping: Event, makers: CapacityLimiter | None = None
) -> AsyncIterator[bytes]:
    """Yield one message at once, then one per change, until the run has ended. A run that continues on another server
    has only one message, and the browser asks again.

    ``stopping`` is set when the server is asked to stop; the server then waits until every stream has ended.
    """
    run, version = messages.run, RunVersion(min(after, len(messages.run.events)))
    changed, loop = asyncio.Event(), asyncio.get_running_loop()

    def wake() -> None:
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(changed.set)

    with run.watched(wake):
        while not stopping.is_set():
            changed.clear()  # first, so that no later change is lost
            if version == messages.now:
                with move_on_after(STOP_WITHIN):
                    await changed.wait()
                continue
            message = messages.get(version)
            if message is None:
                message = await to_thread.run_sync(messages.make, version, limiter=makers)
            yield message.body
            version = message.upto
            if message.last:
                return


async def _wait(seconds: float) -> None:
    """Wait; when the server is asked to stop, at most :data:`GRACE` more seconds, because the server first answers
    every request."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while not end_requested() and (remaining := until - clock()) > 0:
        await asyncio.sleep(min(GRACE, remaining))


def visitor_of(request: HTTPConnection) -> Visitor:
    """Return the visitor of a request. All without a cookie at one address are one visitor."""
    address = shared_address(request.client.host if request.client else "")
    return Visitor(id_in(request.cookies) or f"without a cookie {address}", address)
