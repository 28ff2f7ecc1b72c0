"""The live-event route: a run's events as server-sent events. Read-only, for everybody who knows the run's id.

sse-starlette frames the messages, notices a browser that has gone, and tells each stream when the server is asked to stop.
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
from engine.foundation.visitor import Pace, Visitor
from engine.settings.errors import Problem
from engine.settings.fields import whole_number
from pages.parts.app.visitor import id_in, shared_address
from pages.parts.boards.live.readable_run import ReadableRun
from pages.parts.web.connections import on_signal

# The messages, as bytes: each is made once, whoever listens


SERVER = secrets.token_hex(4)
"""The name of this server process: a page that hears another one than before loads itself anew."""
RECONNECT = 1000
"""Milliseconds after which a browser whose connection broke asks again."""
MAX_MESSAGES = 32
"""The most messages of a run that are kept for the next who ask."""
MAX_MESSAGES_BYTES = 4 * 2**20
"""The most bytes of these messages, beside the latest."""
RECENT = 8
"""The number of runs whose messages are kept although nobody listens, for those who reload or open a shared link."""


class Progress_(NamedTuple):
    """How much of a run is known: the number of its events, and its state and place in the queue, which are no events."""

    events: int
    state: str = ""
    queue_position: int | None = None


@dataclass(frozen=True)
class Message:
    """The news of a run between two moments."""

    body: bytes
    """A server-sent event; its id is the number of events."""
    upto: Progress_
    last: bool
    """True if no message follows: the run has ended, or it goes on at another server and is as it was when it was read."""


class Messages:
    """The messages of one run. All methods may be called from any thread.

    Every message begins at a moment at which another ended, or where somebody came. So all who listen soon hear the same
    messages, although they ask at different times.
    """

    def __init__(self, run: ReadableRun) -> None:
        self.run = run
        self._next: OrderedDict[Progress_, Message] = (
            OrderedDict()
        )  # by the moment at which it begins, the oldest first
        self._making = Lock()

    @property
    def now(self) -> Progress_:
        return Progress_(len(self.run.events), self.run.state, self.run.queue_position)

    def made(self, heard: Progress_) -> Message | None:
        """The message that follows a moment, if it is made already."""
        return self._next.get(heard)

    def make(self, heard: Progress_) -> Message:
        """The message that follows a moment; whoever asks for the same meanwhile waits and gets the same."""
        from pages.parts.boards.live.feed import feed  # late: the server is up before plotly is

        with self._making:
            if (made := self._next.get(heard)) is not None:
                return made
            payload, events = feed(self.run, heard.events)
            status = payload["status"]
            text = json.dumps(payload | {"server": SERVER}, separators=(",", ":"), allow_nan=False)
            body = ServerSentEvent(text, id=str(events), retry=RECONNECT).encode()
            upto = Progress_(events, status["state"], status["queue_position"])
            message = self._next[heard] = Message(body, upto, payload["end"])
            self._next.pop(upto, None)  # a state may come back without an event; then another message follows
            size = sum(len(kept.body) for kept in self._next.values())
            while len(self._next) > 1 and (size > MAX_MESSAGES_BYTES or len(self._next) > MAX_MESSAGES):
                size -= len(self._next.popitem(last=False)[1].body)
            return message


class MessagesOfRuns:
    """The messages of all runs that somebody listens to, and of those asked for last."""

    def __init__(self) -> None:
        self._listened: WeakValueDictionary[str, Messages] = WeakValueDictionary()
        self._recent: deque[Messages] = deque(maxlen=RECENT)
        self._lock = Lock()

    def of(self, run: ReadableRun) -> Messages:
        """The messages of a run, the same for all; they are kept as long as somebody holds them."""
        with self._lock:
            found = self._listened.get(run.id)
            if found is None or found.run is not run:  # the store may have read the run from disk anew
                found = self._listened[run.id] = Messages(run)
            if found not in self._recent:
                self._recent.append(found)
            return found


# The route


STOP_WITHIN = 1.0
"""Seconds within which a stream that waits for news sees that the server stops."""
KEEP_ALIVE = 15
"""Seconds between two comments, so that proxies do not close a silent connection."""
PATIENCE = 60.0
"""Seconds after which a stream is ended whose reader takes nothing."""
GRACE = 2.0
"""Seconds that a stream has to end by itself when the server stops."""
REFUSED_AFTER, LATEST = 2.0, 30.0
"""Seconds after which a stream is refused, at least and at most: who asks again at once would keep the server busy with refusals."""
REFUSALS, AT_ONCE = 1.0, 8.0
"""Refusals of a visitor in each second, and at once; further ones come later."""
MAKERS = 4
"""The most threads that make messages at once; pages need the others."""
MOST_EVENTS = 10**9
"""The largest event number that is accepted: more than any run has."""
HEADERS = {"Cache-Control": "no-store, no-transform"}
NO_RUN = "There is no run with this id; it may have been deleted."


def end_requested() -> bool:
    """Return whether the server must end, by SIGTERM or Ctrl-C. Uvicorn's server knows; the flag of sse-starlette misses a server that
    began before that was imported."""
    return AppStatus.should_exit or bool(getattr(on_signal(), "should_exit", False))


Find = Callable[[str], "ReadableRun | None"]
"""A run by its id, or None."""
Admit = Callable[[Visitor], Callable[[], None]]
"""Counts one more stream of a visitor, and gives the function that counts it no longer. Raises NoRoom where there are enough."""


def everybody(_: Visitor) -> Callable[[], None]:
    """Admits any number of streams."""
    return lambda: None


def live_route(find: Find, prefix: str = "", admit: Admit = everybody) -> Route:
    """``<prefix>/live/<run id>?after=<event number>``; the Last-Event-ID of a reconnecting browser overrides ``after``.

    429 with one sentence for a visitor who has enough streams: the board then polls.
    """
    messages, makers, refusals = MessagesOfRuns(), CapacityLimiter(MAKERS), Pace(REFUSALS, AT_ONCE)

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
        """The event stream of the run in the address, from the requested event on; without such a run, the reason."""
        run = await to_thread.run_sync(find, request.path_params["run"])
        if run is None:
            return PlainTextResponse(NO_RUN, 404)
        given = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        after = whole_number(given, 0, MOST_EVENTS)
        if after is None:
            return PlainTextResponse(str(Problem("after", given, f"a whole number from 0 to {MOST_EVENTS}")), 400)
        if "last-event-id" in request.headers and not run.live and after >= len(run.events):
            return Response(status_code=204)  # An EventSource does not reconnect after this.
        stopping = Event()
        return EventSourceResponse(
            stream(messages.of(run), after, stopping, makers), headers=HEADERS, ping=KEEP_ALIVE, send_timeout=PATIENCE,
            shutdown_event=stopping, shutdown_grace_period=GRACE,
        )  # fmt: skip

    return Route(f"{prefix}/live/{{run}}", live, methods=["GET"])


class CountedAnswer:
    """An answer that counts as a stream of the visitor: ``leave`` is called when it has ended, however it ends."""

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
    """One message at once, then one whenever there are new events, until the run has ended and all are sent. Of a run that goes
    on at another server there is one message, and the browser asks again.

    ``stopping`` is set when the server is asked to stop; the server then waits until every stream has ended.
    """
    run, heard = messages.run, Progress_(min(after, len(messages.run.events)))
    changed, loop = asyncio.Event(), asyncio.get_running_loop()

    def wake() -> None:
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(changed.set)

    with run.watched(wake):
        while not stopping.is_set():
            changed.clear()  # first: what changes from here on is heard of
            if heard == messages.now:
                with move_on_after(STOP_WITHIN):
                    await changed.wait()
                continue
            message = messages.made(heard)
            if message is None:
                message = await to_thread.run_sync(messages.make, heard, limiter=makers)
            yield message.body
            heard = message.upto
            if message.last:
                return


async def _wait(seconds: float) -> None:
    """Wait for so long; where the server is asked to stop, at most the grace time after that, since it first answers every request."""
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    while not end_requested() and (left := until - clock()) > 0:
        await asyncio.sleep(min(GRACE, left))


def visitor_of(request: HTTPConnection) -> Visitor:
    """Who asks. Those without a cookie at one address count as one visitor."""
    address = shared_address(request.client.host if request.client else "")
    return Visitor(id_in(request.cookies) or f"without a cookie {address}", address)
