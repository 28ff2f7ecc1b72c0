"""The gate in front of Streamlit: it counts the messages and uploads of visitors. Streamlit itself reads messages on
the event loop, which all visitors share, and keeps in memory any state that a message claims for a widget.

A websocket carries one ``BackMsg`` of ``streamlit.proto`` per message; an upload is a PUT of one file.
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
from engine.foundation.visitor import RateLimit, Visitor
from engine.settings.fields import whole_number
from pages.parts.web.live import visitor_of

UPLOADS = "/_stcore/upload_file/"
# of one websocket; a slider sends five a second while it is dragged
MESSAGES_PER_SECOND, MESSAGES_AT_ONCE = 50.0, 100.0
# per address: this many websockets may be ended for their messages at once, then one in so many seconds, before new
# ones are refused
FLOOD_SECONDS, FLOODS_AT_ONCE = 5.0, 3.0
LARGEST_VALUES = 32_768  # bytes of a message apart from typed texts; a page sends one or two kilobytes
MAX_MESSAGE_PARTS = 300  # of one kind in a message, such as widgets
LEAST_BYTES = 512  # memory for the state of a widget, however short it is
COPIES = 2  # of a widget's state in Streamlit
PAGE = 16_384  # bytes in which memory is counted, so that the number of files is limited, too
FILE_BYTES = 2**20  # bytes of a file of unknown length: Streamlit's maximum (``server.maxUploadSize``)
# seconds without a message after which a script has finished: Streamlit then drops the state of removed widgets
WHOLE_RUN = 10.0

Take = Callable[[Visitor, int], Callable[[], None]]
"""Counts bytes of a visitor and returns the function that releases them. Raises NoRoom above the limit."""
_log = logging.getLogger(__name__)


def unlimited(_: Visitor, __: int) -> Callable[[], None]:
    return lambda: None


def numbers(message: Any) -> Mapping[str, int]:
    return {field.name: field.number for field in message.DESCRIPTOR.fields}


KINDS, CLIENT, STATE = numbers(BackMsg), numbers(ClientState), numbers(WidgetState)
JSON = {STATE["json_value"], STATE["json_trigger_value"]}
NAMES = numbers(FileURLsRequest)["file_names"]
# A download that is made when its button is pressed is a backend operation.
APP_KINDS = {
    KINDS[name]
    for name in ("rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request")
}
"""The kinds of message that the app's pages send. Others are dropped: ``clear_cache`` empties the caches of all
visitors."""


class InvalidMessage(Exception):
    """A message that no page sends, with the reason for the log."""


Part = tuple[int, int, int]
"""A field of a protobuf message: its number, and the begin and end of its content."""


def parts(data: bytes, begin: int, end: int) -> Iterator[Part]:
    """Yield the fields of a message without reading their content. Raises InvalidMessage."""
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


def few(fields: Iterator[Part]) -> Iterator[Part]:
    """Pass the parts through. Raises InvalidMessage after too many."""
    for number, part in enumerate(fields):
        if number == MAX_MESSAGE_PARTS:
            raise InvalidMessage(f"it has more than {MAX_MESSAGE_PARTS} parts of a kind")
        yield part


def kind_of(data: bytes) -> Part:
    """Return the only field of a page's message. Raises InvalidMessage if it has several, of which the last would
    count, or too many parts."""
    fields = list(few(parts(data, 0, len(data))))
    if len(fields) != 1:
        raise InvalidMessage("it has no kind, or several")
    number, begin, end = fields[0]
    if number == KINDS["file_urls_request"] and sum(field == NAMES for field, _, _ in few(parts(data, begin, end))) > 1:
        raise InvalidMessage("it asks to upload several files at once")
    if number != KINDS["rerun_script"] and end - begin > LARGEST_VALUES:
        raise InvalidMessage("it is too long")
    return fields[0]


def _check_json(value: bytes) -> None:
    try:
        json.loads(value)
    except (ValueError, RecursionError):  # it would fail in each run of the script, with a traceback
        raise InvalidMessage("a component's value is malformed") from None


def sizes_of(data: bytes, begin: int, end: int) -> dict[bytes, int]:
    """Return the bytes that Streamlit will hold of a request to run the script, by widget id; ``b""`` has the rest.
    Raises InvalidMessage if they are too many, or more than a reader types."""
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


class SessionMemory:
    """The memory that a websocket's session holds, counted in pages of :data:`PAGE` bytes."""

    def __init__(self, take: Take, visitor: Visitor, clock: Callable[[], float]) -> None:
        self._take, self._visitor, self._clock = take, visitor, clock
        self._sizes: dict[bytes, int] = {}
        self._bytes, self._releases = 0, list[Callable[[], None]]()
        self._last = clock()

    def add(self, sizes: Mapping[bytes, int]) -> None:
        """Raises NoRoom above the limit of the visitor, its address or the host."""
        now = self._clock()
        # Not at every run: a script that is stopped drops nothing, so invented widgets would add up.
        if now - self._last > WHOLE_RUN:
            # A long text in a box of the page stays, even if it is not sent again.
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
    """Middleware that passes on to Streamlit only messages as the app's pages send them, at their rate, while there is
    memory.

    Any other message ends its websocket. An upload without memory gets a 429 with one sentence.
    """

    def __init__(self, app: ASGIApp, take: Take, clock: Callable[[], float] = time.monotonic) -> None:
        self.app, self.take, self.clock = app, take, clock
        self.threads = CapacityLimiter(1)
        self.floods = RateLimit(1 / FLOOD_SECONDS, FLOODS_AT_ONCE, clock)
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
        pace, memory = (
            RateLimit(MESSAGES_PER_SECOND, MESSAGES_AT_ONCE, self.clock),
            SessionMemory(self.take, visitor, self.clock),
        )
        is_over = False

        def is_needed(message: Message) -> bool:
            """Return whether Streamlit gets the message. Raises InvalidMessage or NoRoom if it ends the websocket."""
            if pace.spend("", 1):
                raise InvalidMessage("messages come too fast")
            if (data := message.get("bytes")) is None:
                raise InvalidMessage("it is text")
            kind, begin, end = kind_of(data)
            if kind == KINDS["rerun_script"]:
                memory.add(sizes_of(data, begin, end))
            return kind in APP_KINDS

        async def needed() -> Message:
            nonlocal is_over
            while True:
                message = await receive()
                try:
                    if message["type"] != "websocket.receive" or is_needed(message):
                        return message
                except (InvalidMessage, NoRoom) as error:
                    if isinstance(error, InvalidMessage):
                        self.floods.spend(visitor.network, 1)
                    _log.warning("A websocket was ended for a message: %s.", str(error).rstrip("."))
                    is_over = True
                    # Streamlit then leaves. A closing frame would make the server read for ten more seconds.
                    return {"type": "websocket.disconnect", "code": 1008}

        async def send_until_over(message: Message) -> None:
            if not is_over:
                await send(message)

        try:
            await self.app(scope, needed, send_until_over)
        finally:  # later, because Streamlit keeps the session for a browser that reconnects
            asyncio.get_running_loop().call_later(config.get_option("server.disconnectedSessionTTL"), memory.release)

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
        """Release the files that Streamlit has dropped, with their session or because the reader removed them."""
        for session, file in list(self.files):
            if not (runtime.exists() and runtime.get_instance().uploaded_file_mgr.get_files(session, [file])):
                self.files.pop((session, file))()
