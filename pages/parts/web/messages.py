"""The messages of a run's event stream, as bytes: each is made once, whoever listens."""

import json
import secrets
from collections import OrderedDict, deque
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple
from weakref import WeakValueDictionary

from sse_starlette import ServerSentEvent

from pages.parts.boards.live.readable_run import ReadableRun

SERVER = secrets.token_hex(4)
"""The name of this server process: a page that hears another one than before loads itself anew."""
RECONNECT = 1000
"""Milliseconds after which a browser whose connection broke asks again."""
KEPT = 32
"""The most messages of a run that are kept for the next who ask."""
KEPT_BYTES = 4 * 2**20
"""The most bytes of these messages, beside the latest."""
RECENT = 8
"""The number of runs whose messages are kept although nobody listens, for those who reload or open a shared link."""


class Moment(NamedTuple):
    """How much of a run is known: the number of its events, and its state and place in the queue, which are no events."""

    events: int
    state: str = ""
    queue_place: int | None = None


@dataclass(frozen=True)
class Message:
    """The news of a run between two moments."""

    body: bytes
    """A server-sent event; its id is the number of events."""
    upto: Moment
    last: bool
    """Whether no message follows: the run has ended, or it goes on at another server and is as it was when it was read."""


class Messages:
    """The messages of one run. All methods may be called from any thread.

    Every message begins at a moment at which another ended, or where somebody came. So all who listen soon hear the same
    messages, although they ask at different times.
    """

    def __init__(self, run: ReadableRun) -> None:
        self.run = run
        self._next: OrderedDict[Moment, Message] = OrderedDict()  # by the moment at which it begins, the oldest first
        self._making = Lock()

    @property
    def now(self) -> Moment:
        return Moment(len(self.run.events), self.run.state, self.run.queue_place)

    def made(self, heard: Moment) -> Message | None:
        """The message that follows a moment, if it is made already."""
        return self._next.get(heard)

    def make(self, heard: Moment) -> Message:
        """The message that follows a moment; whoever asks for the same meanwhile waits and gets the same."""
        from pages.parts.boards.live.feed import feed  # late: the server is up before plotly is

        with self._making:
            if (made := self._next.get(heard)) is not None:
                return made
            payload, events = feed(self.run, heard.events)
            status = payload["status"]
            text = json.dumps(payload | {"server": SERVER}, separators=(",", ":"), allow_nan=False)
            body = ServerSentEvent(text, id=str(events), retry=RECONNECT).encode()
            upto = Moment(events, status["state"], status["queue_place"])
            message = self._next[heard] = Message(body, upto, payload["end"])
            self._next.pop(upto, None)  # a state may come back without an event; then another message follows
            size = sum(len(kept.body) for kept in self._next.values())
            while len(self._next) > 1 and (size > KEPT_BYTES or len(self._next) > KEPT):
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
