"""The gate in front of Streamlit: what a visitor sends is read and counted before Streamlit reads it, which answers messages on the event
loop, where all visitors wait, and holds in memory whatever they say that their widgets are.

Over a websocket comes a ``BackMsg`` of ``streamlit.proto`` at a time; an upload is a PUT of one file.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Common_pb2 import FileURLsRequest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from engine.foundation.errors import NoRoom
from engine.foundation.formatting import in_time
from engine.foundation.visitor import Pace, Visitor
from engine.settings.fields import whole_number
from pages.parts.web.live import visitor_of

UPLOADS = "/_stcore/upload_file/"
MESSAGES_PER_SECOND, MESSAGES_AT_ONCE = 50.0, 100.0
"""Of one websocket. A slider that is dragged sends five in a second."""
FLOOD_SECONDS, FLOODS_AT_ONCE = 5.0, 3.0
"""So many websockets of one address may be ended for their messages at once, then one in so many seconds; else no new one is let in."""
LARGEST_VALUES = 32_768
"""Bytes of a message apart from the texts that a reader types. A page sends one or two kilobytes."""
MOST_PARTS = 300
"""Parts of a message of one kind, such as widgets."""
LEAST_BYTES = 512
"""The memory that the state of a widget takes at least, however short it is."""
COPIES = 2
"""Streamlit holds the state of a widget so often."""
PAGE = 16_384
"""Bytes in which memory is counted, so that the number of files is limited, too."""
FILE_BYTES = 2**20
"""The bytes of a file whose length is not told: the most that Streamlit takes (``server.maxUploadSize``)."""
WHOLE_RUN = 10.0
"""Seconds without a message after which a script has run to its end: Streamlit then drops the state of widgets that are gone."""

Take = Callable[[Visitor, int], Callable[[], None]]
"""Counts so many bytes of a visitor, and gives the function that counts them no longer. Raises NoRoom where there are enough."""
_log = logging.getLogger(__name__)


def unlimited(_: Visitor, __: int) -> Callable[[], None]:
    """Counts nothing."""
    return lambda: None


def numbers(message: Any) -> Mapping[str, int]:
    """The numbers of a message's fields, by name."""
    return {field.name: field.number for field in message.DESCRIPTOR.fields}


KINDS, CLIENT, STATE = numbers(BackMsg), numbers(ClientState), numbers(WidgetState)
JSON = {STATE["json_value"], STATE["json_trigger_value"]}
NAMES = numbers(FileURLsRequest)["file_names"]
# A download that is made when its button is pressed is a backend operation.
NEEDED = {
    KINDS[name]
    for name in ("rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request")
}
"""The kinds of message that the app's pages send. Others are dropped: ``clear_cache`` empties the caches of all visitors."""


class InvalidMessage(Exception):
    """A message that no page sends, with the reason for the log."""


Part = tuple[int, int, int]
"""A field of a protobuf message: its number, and where its content begins and ends."""


def parts(data: bytes, begin: int, end: int) -> Iterator[Part]:
    """The fields of the message between the two places, without reading what is in them. Raises Refused where it is malformed."""
    at = begin
    while at < end:
        tag, at = _varint(data, at, end)
        match tag & 7:
            case 0:
                start, (_, at) = at, _varint(data, at, end)
            case 1:
                start, at = at, at + 8
            case 2:
                length, start = _varint(data, at, end)
                at = start + length
            case 5:
                start, at = at, at + 4
            case _:
                raise InvalidMessage("it is malformed")
        if at > end:
            raise InvalidMessage("it is malformed")
        yield tag >> 3, start, at


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 64:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at
    raise InvalidMessage("it is malformed")


def few(found: Iterator[Part]) -> Iterator[Part]:
    """The parts. Raises Refused after too many."""
    for number, part in enumerate(found):
        if number == MOST_PARTS:
            raise InvalidMessage(f"it has more than {MOST_PARTS} parts of a kind")
        yield part


def kind_of(data: bytes) -> Part:
    """The one field of a message from a page. Raises Refused where it has several, of which the last would count, or too many parts."""
    found = list(few(parts(data, 0, len(data))))
    if len(found) != 1:
        raise InvalidMessage("it has no kind, or several")
    number, begin, end = found[0]
    if number == KINDS["file_urls_request"] and sum(field == NAMES for field, _, _ in few(parts(data, begin, end))) > 1:
        raise InvalidMessage("it asks to upload several files at once")
    if number != KINDS["rerun_script"] and end - begin > LARGEST_VALUES:
        raise InvalidMessage("it is too long")
    return found[0]


def _check_json(value: bytes) -> None:
    try:
        json.loads(value)
    except (ValueError, RecursionError):  # it would fail in each run of the script, with a traceback
        raise InvalidMessage("a component's value is malformed") from None


def sizes_of(data: bytes, begin: int, end: int) -> dict[bytes, int]:
    """The bytes that Streamlit will hold of a request to run the script, by the id of the widget; what belongs to none has the id ``b""``.
    Raises Refused where there are too many, or too much that no reader types."""
    sizes, texts, owned = dict[bytes, int](), 0, 0
    for field, start, stop in few(parts(data, begin, end)):
        if field != CLIENT["widget_states"]:
            continue
        for _, first, last in few(parts(data, start, stop)):
            name = b""
            for number, here, there in few(parts(data, first, last)):
                if number == STATE["id"]:
                    name = data[here:there]
                elif number == STATE["string_value"]:
                    texts += there - here
                elif number in JSON:
                    _check_json(data[here:there])
            sizes[name] = max(LEAST_BYTES, COPIES * (last - first))
            owned += last - first
    if len(data) - texts > LARGEST_VALUES:
        raise InvalidMessage("it is too long")
    return {**sizes, b"": sizes.get(b"", 0) + COPIES * (len(data) - owned)}


class Held:
    """The memory that a websocket's session holds of what was sent, counted in pages of :data:`PAGE` bytes."""

    def __init__(self, take: Take, visitor: Visitor, clock: Callable[[], float]) -> None:
        self._take, self._visitor, self._clock = take, visitor, clock
        self._sizes: dict[bytes, int] = {}
        self._bytes, self._releases = 0, list[Callable[[], None]]()
        self._last = clock()

    def add(self, sizes: Mapping[bytes, int]) -> None:
        """Raises NoRoom where the visitor, its address or the host holds enough. A run of the script that is stopped drops nothing, so that
        widgets that are made up would add up."""
        now = self._clock()
        if now - self._last > WHOLE_RUN:
            # A text in a box of the page stays, also when it is not sent again.
            self._sizes = {name: size for name, size in self._sizes.items() if size > PAGE}
            self.release()
        self._last = now
        self._sizes.update(sizes)
        if (missing := sum(self._sizes.values()) - self._bytes) > 0:
            more = -(-missing // PAGE) * PAGE
            self._releases.append(self._take(self._visitor, more))
            self._bytes += more

    def release(self) -> None:
        while self._releases:
            self._releases.pop()()
        self._bytes = 0


class Gate:
    """Middleware that lets through to Streamlit what the app's pages send, at the pace at which they do, while there is memory for it.

    A websocket that sends anything else is ended, and an upload for which there is no memory is answered with 429 and one sentence.
    """

    def __init__(self, app: ASGIApp, take: Take, clock: Callable[[], float] = time.monotonic) -> None:
        self.app, self.take, self.clock = app, take, clock
        self.threads = CapacityLimiter(1)
        self.floods = Pace(1 / FLOOD_SECONDS, FLOODS_AT_ONCE, clock)
        self.files: dict[tuple[str, str], Callable[[], None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            self._forget_files()
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "PUT" and UPLOADS in scope["path"]:
            self._forget_files()
            await self._upload(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        visitor = visitor_of(HTTPConnection(scope))
        if wait := self.floods.wait(visitor.network):
            sentence = f"Too many messages came from your network address. Try again in {in_time(wait)}."
            await WebSocket(scope, receive, send).send_denial_response(PlainTextResponse(sentence, 429))
            return
        pace, held = Pace(MESSAGES_PER_SECOND, MESSAGES_AT_ONCE, self.clock), Held(self.take, visitor, self.clock)
        ended = False

        def is_needed(message: Message) -> bool:
            """Return whether a message goes on to Streamlit. Raises Refused or NoRoom where it ends the websocket."""
            if pace.spend("", 1):
                raise InvalidMessage("messages come too fast")
            if (data := message.get("bytes")) is None:
                raise InvalidMessage("it is text")
            kind, begin, end = kind_of(data)
            if kind == KINDS["rerun_script"]:
                held.add(sizes_of(data, begin, end))
            return kind in NEEDED

        async def needed() -> Message:
            nonlocal ended
            while True:
                message = await receive()
                try:
                    if message["type"] != "websocket.receive" or is_needed(message):
                        return message
                except (InvalidMessage, NoRoom) as error:
                    if isinstance(error, InvalidMessage):
                        self.floods.spend(visitor.network, 1)
                    _log.warning("A websocket was ended for a message: %s.", str(error).rstrip("."))
                    ended = True
                    # Streamlit leaves, and the connection ends. A closing frame would make the server read on for ten seconds.
                    return {"type": "websocket.disconnect", "code": 1008}

        async def send_until_ended(message: Message) -> None:
            if not ended:
                await send(message)

        try:
            await self.app(scope, needed, send_until_ended)
        finally:  # Streamlit keeps the session for a while, for a browser that comes again.
            asyncio.get_running_loop().call_later(config.get_option("server.disconnectedSessionTTL"), held.release)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = HTTPConnection(scope)
        size = whole_number(connection.headers.get("content-length", ""), 0, FILE_BYTES)
        bytes_taken = FILE_BYTES if size is None else max(size, PAGE)
        try:
            release = await to_thread.run_sync(self.take, visitor_of(connection), bytes_taken, limiter=self.threads)
        except NoRoom as error:
            await PlainTextResponse(str(error), 429)(scope, receive, send)
            return
        _, session, file = scope["path"].rsplit("/", 2)
        try:
            await self.app(scope, receive, send)
        finally:
            if earlier := self.files.pop((session, file), None):
                earlier()
            self.files[session, file] = release
            self._forget_files()

    def _forget_files(self) -> None:
        """Count no longer the files that Streamlit has dropped, with their session or at the reader's wish."""
        for session, file in list(self.files):
            if not (runtime.exists() and runtime.get_instance().uploaded_file_mgr.get_files(session, [file])):
                self.files.pop((session, file))()
