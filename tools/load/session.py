"""One simulated browser session: Streamlit's websocket, the widgets of the page, the board's event stream, cookies.

It sends the messages of the browser's script: all widget states, hashes of cached messages, reruns of fragments, and the board's
reports. It draws nothing and loads no scripts or fonts, which a browser caches after its first page.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

LIVE = ("queued", "running", "paused")
PAGE_SECONDS = 60.0  # until a page is complete; one that takes longer counts as never answered
SILENCE = 8.0  # of a stream without a first message, after which the board gives it up and asks to be polled (data.js)
RECONNECT = 1.0  # before a broken stream is opened again
# the ends of a run of the script when no other follows at once
COMPLETE = (
    ForwardMsg.FINISHED_SUCCESSFULLY,
    ForwardMsg.FINISHED_WITH_COMPILE_ERROR,
    ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
)
BOARD, FIGURES = "attention_lab_live", "attention_lab_figures"
# kinds of elements that keep a value here; others keep none, as if the page had not drawn them
KINDS = (
    "number_input", "slider", "selectbox", "radio", "text_input", "text_area", "checkbox", "button_group", "multiselect",
)  # fmt: skip


@dataclass
class Board:
    """The observations of one run. Times are seconds of ``time.perf_counter``."""

    run: str
    shown_at: float = field(default_factory=time.perf_counter)  # when the page showed this run
    state: str = "queued"
    step: int = 0
    has_message: bool = False  # a message has come
    last: int = 0  # the number of the first event that has not come yet
    points: list[float] = field(default_factory=list)  # the time of each message that brought further steps
    polled: bool = False  # the stream was given up and the page polls
    reported: str = ""
    problem: str = ""

    @property
    def has_ended(self) -> bool:
        return self.state not in LIVE

    @property
    def updates_per_second(self) -> float | None:
        return (len(self.points) - 1) / (self.points[-1] - self.points[0]) if len(self.points) > 2 else None

    def take(self, updates: dict[str, Any]) -> None:
        status, self.has_message = updates["status"], True
        if updates["last"] > self.last and status["step"] > self.step:
            self.points.append(time.perf_counter())
        self.last = max(self.last, updates["last"])
        self.step, self.state, self.problem = status["step"], status["state"], status["problem"]

    def tells(self, page_state: str) -> bool:
        """True if the page must hear of the state, because its buttons are out of date; once for each state."""
        now = _kind(self.state)
        if now in (_kind(page_state), self.reported):
            return False
        self.reported = now
        return True


def _kind(state: str) -> str:
    return "running" if state == "queued" else state


async def messages(http: aiohttp.ClientSession, address: str, run: str, after: int) -> AsyncIterator[dict[str, Any]]:
    """The messages of a run's event stream. Raises aiohttp.ClientError if it is refused or breaks off."""
    rest = b""
    async with http.get(f"{address}live/{run}", params={"after": str(after)}) as answer:
        answer.raise_for_status()
        async for chunk in answer.content.iter_any():
            *whole, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n\n")
            for message in whole:
                for line in message.split(b"\n"):
                    if line.startswith(b"data: "):
                        yield json.loads(line[6:])


@asynccontextmanager
async def visitor(address: str = "") -> AsyncIterator[aiohttp.ClientSession]:
    """The cookies and connections of one visitor, shared by all of the visitor's tabs. ``address``: the network address
    in the header of a proxy; by default none."""
    connector = aiohttp.TCPConnector(limit=0)
    jar = aiohttp.CookieJar(unsafe=True)  # also for an address that is a number
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=PAGE_SECONDS)
    headers = {"X-Forwarded-For": address} if address else {}
    async with aiohttp.ClientSession(connector=connector, cookie_jar=jar, timeout=timeout, headers=headers) as http:
        yield http


@asynccontextmanager
async def open_session(http: aiohttp.ClientSession, address: str, page: str, query: str = "") -> AsyncIterator[Session]:
    """A tab with this page, complete. ``address`` is the app's, with a slash at its end."""
    async with http.get(f"{address}{page}", params=query) as answer:
        await answer.read()
    async with http.ws_connect(
        f"{address}_stcore/stream", protocols=("streamlit",), origin=address.rstrip("/"), max_msg_size=0, compress=15
    ) as socket:
        session = Session(http, socket, address, page, query)
        reading = asyncio.create_task(session.read())
        try:
            await session.rerun("open")
            yield session
        finally:
            reading.cancel()
            session.leave()


class Session:
    """One tab. Reruns are one at a time; their times count from when they were wanted."""

    def __init__(
        self, http: aiohttp.ClientSession, socket: aiohttp.ClientWebSocketResponse, address: str, page: str, query: str
    ) -> None:
        self.query = query
        self.session_id = ""  # Streamlit's name of the session, under which it takes uploads
        self.board: Board | None = None  # shown by the page now
        # Seconds of each rerun by its cause (open, press, move, board, timer), and of each snapshot of an untrained
        # model (look). Infinite without an answer.
        self.took: dict[str, list[float]] = defaultdict(list)
        # when each of these reruns was wanted, by perf_counter()
        self.began: dict[str, list[float]] = defaultdict(list)
        self.alerts: list[str] = []  # messages in coloured boxes of the page as it is now
        self.disabled: set[str] = set()  # labels of buttons
        self.experiment: dict[str, Any] = {}  # the last data of the board of an experiment
        self.missing = 0  # controls that were to be moved and were not there
        self.errors = 0  # elements that show an exception
        self._http, self._socket, self._address, self._page = http, socket, address, page
        self._page_hash = ""
        self._states: dict[str, WidgetState] = {}
        self._widgets: dict[str, Any] = {}
        self._ids: dict[str, str] = {}
        self._cached: set[str] = set()
        self._reported: dict[str, Any] = {}
        self._board_id = self._board_fragment = self._page_state = ""
        self._looked_at = ""
        # a token for each fragment that is repeated: a timer ends when its token is replaced
        self._timers: dict[str, object] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        self._complete: asyncio.Future[None] | None = None
        # the script's runs that have begun since the last order: the end of an earlier one is not the answer to it
        self._begun: set[str] = set()

    # actions of the visitor

    async def press(self, label: str) -> None:
        await self.rerun("press", pressed=WidgetState(id=self._ids[label], trigger_value=True))

    async def move(self, label: str) -> None:
        """Returns once the page is complete again. A missing control is counted."""
        if not self.has(label):
            self.missing += 1
            return
        name = self._ids[label]
        move(self._widgets[name], self._states[name])
        await self.rerun("move")

    async def write(self, label: str, text: str) -> None:
        self._states[self._ids[label]].string_value = text
        await self.rerun("move")

    def has(self, label: str) -> bool:
        return label in self._ids

    async def until_ended(self) -> Board:
        while self.board is None or not self.board.has_ended:
            await asyncio.sleep(0.05)
        return self.board

    async def rerun(
        self, cause: str, *, pressed: WidgetState | None = None, fragment: str = "", auto: bool = False
    ) -> None:
        began, seconds = time.perf_counter(), math.inf
        try:
            async with asyncio.timeout(PAGE_SECONDS), self._turn:
                self._complete, self._begun = asyncio.get_running_loop().create_future(), set()
                await self._socket.send_bytes(self._order(pressed, fragment, auto))
                await self._complete
            seconds = time.perf_counter() - began
        except TimeoutError:
            pass  # never answered, and counted so
        self.took[cause].append(seconds)
        self.began[cause].append(began)

    def leave(self) -> None:
        for task in self._tasks:
            task.cancel()

    # actions of the browser's script

    def _order(self, pressed: WidgetState | None, fragment: str, auto: bool) -> bytes:
        order = BackMsg()
        state = order.rerun_script
        state.query_string, state.fragment_id, state.is_auto_rerun = self.query, fragment, auto
        # By its name first, then by the server's own name for it; a fragment's rerun would otherwise show the start page.
        state.page_script_hash, state.page_name = self._page_hash, "" if self._page_hash else self._page
        state.context_info.url = f"{self._address}{self._page}"
        state.context_info.timezone, state.context_info.locale = "UTC", "en"
        state.widget_states.widgets.extend(self._states.values())
        if pressed is not None:
            state.widget_states.widgets.append(pressed)
        state.cached_message_hashes.extend(self._cached)
        sent: bytes = order.SerializeToString()
        return sent

    async def read(self) -> None:
        reason: Exception = ConnectionError("The server closed the connection.")
        try:
            async for frame in self._socket:
                if frame.type is aiohttp.WSMsgType.BINARY:
                    self._take(ForwardMsg.FromString(frame.data))
        except Exception as error:  # for the caller that waits for the page
            reason = error
        if self._complete is not None and not self._complete.done():
            self._complete.set_exception(reason)

    def _take(self, message: Any) -> None:
        match message.WhichOneof("type"):
            case "delta":
                if message.metadata.cacheable:
                    self._cached.add(message.hash)
                self._take_element(message.delta)
            case "navigation":
                self._page_hash = message.navigation.page_script_hash
            case "new_session":
                self.session_id = message.new_session.initialize.session_id
                self._begun.add(message.metadata.run.script_run_id)
                if not message.metadata.run.fragment_ids:
                    self.alerts.clear()
                    self._timers.clear()
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "auto_rerun":
                self._start_timer(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            case "stop_auto_rerun":
                for fragment in message.stop_auto_rerun.fragment_ids:
                    self._timers.pop(fragment, None)
            case "script_finished" if message.script_finished in COMPLETE:
                answers = message.metadata.run.script_run_id in self._begun
                if answers and self._complete is not None and not self._complete.done():
                    self._complete.set_result(None)

    def _take_element(self, delta: Any) -> None:
        if not delta.HasField("new_element"):
            return
        kind = delta.new_element.WhichOneof("type")
        element = getattr(delta.new_element, kind)
        if kind == "alert":
            self.alerts.append(element.body)
        elif kind == "exception":
            self.errors += 1
        elif kind == "button":
            self._ids[element.label] = element.id
            (self.disabled.add if element.disabled else self.disabled.discard)(element.label)
        elif kind == "bidi_component" and element.component_name == BOARD:
            self._hear(element, delta.fragment_id)
        elif kind == "bidi_component" and element.component_name == FIGURES:
            (data,) = json.loads(element.json or element.mixed.json)
            if data["status"]["state"] != "none":  # other boards of the page follow nothing
                self.experiment = data
        elif kind in KINDS:
            self._ids[element.label] = element.id
            self._widgets.setdefault(element.id, element)  # as it was before it was moved
            state = first_state(kind, element)
            if state is not None and (element.set_value or element.id not in self._states):
                self._states[element.id] = state

    def _start_timer(self, fragment: str, interval: float) -> None:
        token = self._timers[fragment] = object()

        async def tick() -> None:
            while True:
                await asyncio.sleep(interval)
                if self._timers.get(fragment) is not token:
                    return
                if not self._turn.locked():  # the server would join the two
                    await self.rerun("timer", fragment=fragment, auto=True)

        self._spawn(tick())

    # The board

    def _hear(self, component: Any, fragment: str) -> None:
        """Take the page's data for the board, as ``board.js`` does."""
        (data,) = json.loads(component.json or component.mixed.json)
        self._board_id, self._board_fragment = component.id, fragment
        if data["state"] != self._page_state and self.board is not None:
            self.board.reported = ""
        self._page_state = data["state"]
        settings = "" if data["run"] else data.get("untrained", "")
        if settings and settings != self._looked_at:
            self._spawn(self._refresh(settings))
        self._looked_at = settings
        if data["run"] and (self.board is None or self.board.run != data["run"]):
            self.board = Board(data["run"])
            self._spawn(self._follow(self.board))
        if self.board is not None and "polled" in data:
            self._updates(self.board, data["polled"])

    async def _refresh(self, settings: str) -> None:
        """Ask for the untrained model of these settings, as ``data.js`` does."""
        began = time.perf_counter()
        async with self._http.get(f"{self._address}untrained?{settings}") as answer:
            problem = "problem" in await answer.json()
        self.took["look"].append(math.inf if problem else time.perf_counter() - began)

    async def _follow(self, board: Board) -> None:
        while not board.has_ended and self.board is board:
            try:
                async with asyncio.timeout(SILENCE) as patience:
                    async for updates in messages(self._http, self._address, board.run, board.last):
                        patience.reschedule(None)
                        self._updates(board, updates)
                        if updates["end"]:
                            return
            except (aiohttp.ClientResponseError, TimeoutError):  # refused or silent
                board.polled = True
                self._say(fallback=f"{board.run}/load")
                return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(RECONNECT)

    def _updates(self, board: Board, updates: dict[str, Any]) -> None:
        board.take(updates)
        if board is self.board and board.tells(self._page_state):
            self._say(state=board.state)

    def _say(self, **message: str) -> None:
        self._reported |= message
        self._states[self._board_id] = WidgetState(id=self._board_id, json_value=json.dumps(self._reported))
        self._spawn(self.rerun("board", fragment=self._board_fragment))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def first_state(kind: str, widget: Any) -> WidgetState | None:
    state = WidgetState(id=widget.id)
    match kind:
        case "number_input" if widget.HasField("value") or widget.HasField("default"):
            state.double_value = widget.value if widget.set_value else widget.default
        case "slider":
            state.double_array_value.data.extend(widget.value if widget.set_value else widget.default)
        case "selectbox" | "radio" if widget.set_value and widget.HasField("raw_value"):
            state.string_value = widget.raw_value
        case "selectbox" | "radio" if widget.HasField("default"):
            state.string_value = widget.options[widget.default]
        case "text_input" | "text_area" if widget.set_value or widget.HasField("default"):
            state.string_value = widget.value if widget.set_value else widget.default
        case "checkbox":
            state.bool_value = widget.value if widget.set_value else widget.default
        case "button_group" | "multiselect":
            names = _options(widget)
            chosen = widget.raw_values if widget.set_value else [names[index] for index in widget.default]
            state.string_array_value.data.extend(chosen)
        case _:
            return None
    return state


def move(widget: Any, state: WidgetState) -> None:
    """Change the state as a reader does: the next choice of several, or one step up if the value was not moved, else back."""
    match state.WhichOneof("value"):
        case "double_value":
            start = widget.value if widget.set_value else widget.default
            state.double_value = start if state.double_value != start else _beside(start, widget)
        case "double_array_value":
            start = (widget.value or widget.default)[0]
            now = state.double_array_value.data
            now[0] = start if now[0] != start else _beside(start, widget)
        case "bool_value":
            state.bool_value = not state.bool_value
        case "string_value" if hasattr(widget, "options"):
            state.string_value = _next_option(_options(widget), state.string_value)
        case "string_array_value":
            now = state.string_array_value.data
            now[:] = [_next_option(_options(widget), now[0] if now else "")]
        case other:
            raise ValueError(f"A widget with {other or 'no value'} cannot be moved: {widget.label}")


def _beside(value: float, widget: Any) -> float:
    step: float = widget.step if value + widget.step <= widget.max else -widget.step
    return value + step


def _options(widget: Any) -> list[str]:
    return [option if isinstance(option, str) else option.content for option in widget.options]


def _next_option(options: list[str], now: str) -> str:
    index = options.index(now) if now in options else -1
    return options[(index + 1) % len(options)]
