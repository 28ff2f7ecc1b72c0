import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from engine.foundation.visitor import Visitor
from engine.serving.allowances import Allowances
from engine.serving.limits import PROFILES, Limits
from pages.parts.web.gate import MESSAGES_AT_ONCE, WHOLE_RUN, Gate
from tests.serving import start_server
from tools.load.session import open_session, visitor

MIB = 2**20
HOST, OTHER = "203.0.113.5", "198.51.100.7"
TOKEN = "2|00000000|" + "00" * 16 + "|1"  # A token of Streamlit's; a client that sends it twice may upload


def rerun(*states: WidgetState, query: str = "") -> BackMsg:
    message = BackMsg()
    message.rerun_script.query_string = query
    message.rerun_script.widget_states.widgets.extend(states)
    return message


def uploads(number: int) -> BackMsg:
    message = BackMsg()
    message.file_urls_request.request_id = "1"
    message.file_urls_request.file_names.extend(["text.txt"] * number)
    return message


class Tab:
    """A websocket, by its messages and those that come through the gate."""

    def __init__(self, gate: Gate, host: str) -> None:
        self.inbox, self.answers = asyncio.Queue[Any](), asyncio.Queue[Any]()
        scope = {
            "type": "websocket", "path": "/", "client": (host, 1), "headers": [], "extensions": {"websocket.http.response": {}},
        }  # fmt: skip
        self.going = asyncio.create_task(gate(scope, self.inbox.get, self.answers.put))
        self.inbox.put_nowait({"type": "websocket.connect"})

    async def opens(self) -> bool:
        return bool((await self.answers.get())["type"] == "websocket.accept")

    def send(self, message: BackMsg | bytes | str) -> None:
        data = message.SerializeToString() if isinstance(message, BackMsg) else message
        self.inbox.put_nowait({"type": "websocket.receive", "text" if isinstance(data, str) else "bytes": data})

    async def passes(self, *messages: BackMsg | bytes | str) -> bool:
        """True if all messages come through; False if the websocket is ended before that."""
        for message in messages:
            self.send(message)
            come = asyncio.create_task(self.answers.get())
            await asyncio.wait((come, self.going), return_when=asyncio.FIRST_COMPLETED)
            if not come.done():
                come.cancel()
                return False
        return True

    async def leave(self) -> None:
        self.inbox.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await self.going


class Scene:
    """An app that answers each message which comes through the gate, at a clock that a test sets, with the limits of a public host."""

    def __init__(self) -> None:
        self.now, self.through = 0.0, list[BackMsg]()
        self.allowances = Allowances(Limits.model_validate(PROFILES["public"]))
        self.gate = Gate(WebSocketRoute("/", self.stream).app, self.take, lambda: self.now)

    async def stream(self, websocket: WebSocket) -> None:
        await websocket.accept()
        with suppress(WebSocketDisconnect):
            while True:
                self.through.append(BackMsg.FromString(await websocket.receive_bytes()))
                await websocket.send_bytes(b"through")

    def take(self, who: Visitor, amount: int) -> Callable[[], None]:
        return self.allowances.take("input", who, amount)

    @asynccontextmanager
    async def tab(self, host: str = HOST) -> AsyncIterator[Tab]:
        tab = Tab(self.gate, host)
        assert await tab.opens()
        yield tab
        await tab.leave()


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_what_pages_send_comes_through_unchanged_and_what_they_never_send_is_dropped(scene: Scene) -> None:
    download = BackMsg()
    download.backend_operation_request.request_id = "1"
    controls = WidgetState(id="slider", int_value=3), WidgetState(id="board", json_value="{}")
    sent = [
        rerun(*controls, query="seed=1"),
        uploads(1),
        BackMsg(stop_script=True),
        BackMsg(app_heartbeat=True),
        download,
    ]
    async with scene.tab() as tab:
        for name in (
            "clear_cache", "load_git_info", "set_run_on_save", "debug_shutdown_runtime", "debug_disconnect_websocket"
        ):  # fmt: skip
            tab.send(BackMsg(**{name: True}))
        assert await tab.passes(*sent)
    assert scene.through == sent


@pytest.mark.parametrize(
    "message",
    [
        uploads(2),
        uploads(100_000),
        BackMsg(app_heartbeat=True).SerializeToString() + BackMsg(clear_cache=True).SerializeToString(),
        b"",
        b"\xff\xff\xff\xff",
        rerun(query="x" * 100).SerializeToString()[:-3],
        rerun(*(WidgetState(id=str(number)) for number in range(1000))),
        rerun(WidgetState(id="list", string_array_value={"data": [""] * 100_000})),
        rerun(query="x" * 200_000),
        *(rerun(WidgetState(id="board", json_value=value)) for value in ("[", "nonsense", "[" * 20_000)),
        "a text frame",
    ],
    ids=range(13),
)
async def test_a_message_that_no_page_sends_ends_its_websocket(message: BackMsg | bytes | str, scene: Scene) -> None:
    async with scene.tab() as tab:
        assert not await tab.passes(message)
    assert scene.through == []


async def test_messages_come_at_the_pace_of_a_page_and_an_address_that_floods_is_let_in_again_later(
    scene: Scene,
) -> None:
    phase, many = BackMsg(app_heartbeat=True), int(MESSAGES_AT_ONCE)
    async with scene.tab() as tab:
        for _ in range(20):
            assert await tab.passes(*[phase] * (many // 2))
            scene.now += 1  # it goes on for as long as one likes
    for _ in range(4):
        async with scene.tab() as tab:
            assert not await tab.passes(*[phase] * (many + 1))
    assert not await Tab(scene.gate, HOST).opens()
    async with scene.tab(OTHER) as other:
        assert await other.passes(phase), "at another address nothing has changed"
    scene.now += 60
    async with scene.tab() as tab:
        assert await tab.passes(phase)


async def test_a_reader_sends_a_long_text_again_and_again_and_an_address_does_not_fill_the_memory(scene: Scene) -> None:
    text = rerun(WidgetState(id="pasted", string_value="x" * 1_000_000))
    async with scene.tab() as tab:
        assert await tab.passes(*[text] * 10)
    async with AsyncExitStack() as tabs:
        for number in range(100):
            made_up = rerun(WidgetState(id=f"made up {number}", string_value="x" * 1_000_000))
            await (await tabs.enter_async_context(scene.tab())).passes(made_up)
        assert len(scene.through) < 10 + 12
        assert await (await tabs.enter_async_context(scene.tab(OTHER))).passes(text), "others have room"


async def test_states_of_widgets_that_are_made_up_add_up_until_the_script_has_run_to_its_end(scene: Scene) -> None:
    def of(turn: int) -> BackMsg:
        return rerun(*(WidgetState(id=f"{turn} {number}", string_value="x" * 1000) for number in range(200)))

    async with scene.tab() as tab:
        assert not await tab.passes(*(of(turn) for turn in range(80))), "all of them are held at once"
    assert len(scene.through) > 5
    slow = Scene()
    async with slow.tab() as tab:
        for turn in range(80):
            assert await tab.passes(of(turn))
            slow.now += WHOLE_RUN + 1


# On a real server


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str, Path]]:
    """A server with the limits of a public host, its address and its log."""
    folder = tmp_path_factory.mktemp("public")
    limits = {
        "ATTENTION_LAB_PROFILE": "public", "ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_INPUTS_PER_VISITOR": "2560KiB"
    }  # fmt: skip
    with start_server("app.py", folder, **limits) as (process, address):
        yield process, address, folder / "log.txt"


def private(process: Any) -> float:
    return float(psutil.Process(process.pid).memory_full_info().uss) / MIB


async def test_a_stranger_who_floods_stops_nobody_and_fills_neither_memory_nor_log(
    public: tuple[Any, str, Path],
) -> None:
    """Before, these took the event loop for a minute in all, hundreds of megabytes and a log of megabytes."""
    floods = (
        uploads(100),
        BackMsg(debug_shutdown_runtime=True),
        BackMsg(stop_script=True),
        rerun(query="a=1"),
        b"\xff\xff",
    )
    server, address, log = public
    async with visitor(OTHER) as honest, open_session(honest, address, "lab") as tab:
        before, written = private(server), log.stat().st_size
        async with visitor(HOST) as stranger:
            await flood(stranger, address, uploads(110_000), 1)
            for message in floods:
                await flood(stranger, address, message, 20_000)
        await tab.rerun("open")
        assert tab.has("Train")
        assert private(server) - before < 50
        assert log.stat().st_size - written < 10_000


async def flood(stranger: aiohttp.ClientSession, address: str, message: BackMsg | bytes, times: int) -> None:
    """Send a message so often, or until the websocket is ended."""
    data = message.SerializeToString() if isinstance(message, BackMsg) else message
    with suppress(aiohttp.ClientError, ConnectionError):
        async with stranger.ws_connect(f"{address}_stcore/stream", protocols=("streamlit",)) as socket:
            for _ in range(times):
                await socket.send_bytes(data)
            await socket.receive()


async def test_files_of_a_visitor_are_counted_and_one_too_many_is_refused_in_words(
    public: tuple[Any, str, Path],
) -> None:
    _, address, _ = public
    async with visitor() as me, open_session(me, address, "text") as tab:
        files = f"{address}_stcore/upload_file/{tab.session_id}"
        token: Any = {"headers": {"X-Xsrftoken": TOKEN}, "cookies": {"_streamlit_xsrf": TOKEN}}

        async def put(file: int) -> tuple[int, str]:
            form = aiohttp.FormData()
            form.add_field("file", b"x" * 1_000_000, filename="text.txt")
            async with me.put(f"{files}/{file}", data=form, **token) as answer:
                return answer.status, await answer.text()

        assert [(await put(file))[0] for file in range(2)] == [204, 204]
        status, words = await put(3)
        assert status == 429
        assert "Remove a file" in words
        async with me.delete(f"{files}/0", **token) as answer:
            assert answer.status == 204
        assert (await put(4))[0] == 204, "a file that was removed leaves room"
