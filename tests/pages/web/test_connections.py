"""Clients that let the server wait: half requests, answers that nobody reads, tabs without number; alone, and against a real server
that has few descriptors."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import psutil
import pytest

from pages.parts.web.connections import BEGIN_WITHIN, GO_ON_WITHIN, HANDSHAKE_WITHIN, PendingConnections
from tests.engine.serving.test_pool import until
from tests.serving import start_server
from tools.load.session import visitor

MAX_SILENT = 8


@dataclass(eq=False)
class Transport:
    unread: int = 0
    closed: bool = False

    def get_write_buffer_size(self) -> int:
        return self.unread

    def abort(self) -> None:
        self.closed = True


@dataclass(eq=False)
class Cycle:
    more_body: bool
    response_complete: bool = False


@dataclass(eq=False)
class Connection:
    host: str = "203.0.113.5"
    cycle: Cycle | None = None
    transport: Transport | None = field(default_factory=Transport)

    @property
    def client(self) -> tuple[str, int]:
        return self.host, 1

    def ask(self, *, more_body: bool = False) -> None:
        self.cycle = Cycle(more_body)


class Scene:
    """Connections at a clock that a test sets."""

    def __init__(self) -> None:
        self.now, self.here = 0.0, set[object]()
        self.waiting = PendingConnections(self.here, MAX_SILENT, lambda: self.now)

    def add(self, host: str = "203.0.113.5") -> Connection:
        made = Connection(host, transport=None)
        self.waiting.note(made)
        made.transport = Transport()
        self.here.add(made)
        return made

    def wait(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            self.now += 1
            self.waiting.check()


def test_a_request_that_is_not_whole_in_time_is_closed_and_one_that_is_answered_is_not() -> None:
    scene = Scene()
    silent, half, answered, again = (scene.add() for _ in range(4))
    answered.ask()
    again.ask()
    half.ask(more_body=True)
    again.cycle.response_complete = True
    scene.wait(BEGIN_WITHIN - 1)
    again.ask()  # its next request, on the same connection
    again.cycle.response_complete = True
    scene.wait(3)
    assert [one.transport.closed for one in (silent, half, answered, again)] == [True, False, False, False]
    scene.wait(GO_ON_WITHIN)
    assert [one.transport.closed for one in (silent, half, answered, again)] == [True, True, False, True]


def test_an_answer_that_nobody_reads_is_given_up_and_one_that_is_read_slowly_is_not() -> None:
    scene = Scene()
    stuck, slow = scene.add(), scene.add()
    for one in (stuck, slow):
        one.ask()
        one.transport.unread = 65536
    for _ in range(10):
        slow.transport.unread -= 100
        scene.wait(GO_ON_WITHIN // 5)
    assert (stuck.transport.closed, slow.transport.closed) == (True, False)


def test_what_has_ended_or_became_a_websocket_is_forgotten_and_so_is_what_was_never_made() -> None:
    scene = Scene()
    ended = scene.add()
    scene.here.clear()
    never = Connection(transport=None)
    scene.waiting.note(never)
    scene.wait(HANDSHAKE_WITHIN + 3)
    assert not ended.transport.closed
    never.transport = Transport()
    scene.wait(HANDSHAKE_WITHIN)
    assert not never.transport.closed


def test_of_too_many_that_are_silent_those_go_whose_address_has_most_and_the_earliest_first() -> None:
    scene = Scene()
    honest = scene.add("198.51.100.7")
    silent = []
    for _ in range(2 * MAX_SILENT):
        silent.append(scene.add())
        silent[-1].ask()
    attack = [scene.add("203.0.113.9") for _ in range(10 * MAX_SILENT)]
    assert not honest.transport.closed
    assert not any(one.transport.closed for one in silent)
    open_ = [number for number, one in enumerate(attack) if not one.transport.closed]
    assert open_ == list(range(open_[0], 10 * MAX_SILENT)), "the latest stay"
    assert len(open_) <= 2 * MAX_SILENT


# Against a real server

FEW = ["sh", "-c", 'ulimit -n 128 && exec "$@"', "-"]  # start a program that may have so many descriptors, and no more
NO_RESOURCE = "socket.accept() out of system resource"


@contextmanager
def half_sent(address: str, number: int) -> Iterator[list[socket.socket]]:
    """So many connections from another address of this machine, each with half a request."""
    with ExitStack() as going:
        found = []
        for _ in range(number):
            one = going.enter_context(closing(socket.socket()))
            one.bind(("127.0.0.2", 0))
            one.settimeout(60)
            one.connect(("127.0.0.1", urlsplit(address).port))
            one.send(b"GET / HTTP/1.1\r\nHost: 127")
            found.append(one)
        yield found


def has_ended(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def healthz(address: str) -> int:
    with closing(HTTPConnection(urlsplit(address).netloc, timeout=60)) as connection:
        connection.request("GET", f"{urlsplit(address).path}healthz")
        return connection.getresponse().status


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has further addresses of its own")
def test_half_sent_requests_beyond_all_descriptors_leave_room_for_others_and_end(tmp_path: Path) -> None:
    with start_server("app.py", tmp_path, under=FEW, ATTENTION_LAB_WORKERS="1") as (process, address):
        server = psutil.Process(process.pid)
        until(lambda: healthz(address) == 200)
        with half_sent(address, 300) as connections:
            assert healthz(address) == 200
            assert server.num_fds() < 128
            until(lambda: all(map(has_ended, connections)))
        assert healthz(address) == 200
    assert (tmp_path / "log.txt").read_text().count(NO_RESOURCE) <= 1


DESCRIPTORS_PER_TAB = 4  # descriptors of an open tab
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "x" * 22 + "==",
}


async def tab(http: aiohttp.ClientSession, address: str) -> aiohttp.ClientResponse:
    """The answer to the handshake with which a tab begins; 101 if it is let in, and stays open."""
    return await http.get(f"{address}_stcore/stream", headers=UPGRADE)


async def let_in(http: aiohttp.ClientSession, address: str) -> aiohttp.ClientResponse:
    """A tab, once the server has seen that an earlier one is closed."""
    while (answer := await tab(http, address)).status != 101:
        await asyncio.sleep(0.1)
    return answer


@pytest.mark.thorough
async def test_tabs_of_a_visitor_beyond_the_limit_are_refused_in_words_and_leave_nothing(tmp_path: Path) -> None:
    few = {"ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_TABS_PER_VISITOR": "3"}
    few["STREAMLIT_SERVER_WEBSOCKET_PING_INTERVAL"] = "3600"  # these tabs answer no pings
    with start_server("app.py", tmp_path, **few) as (process, address):
        server = psutil.Process(process.pid)
        await asyncio.to_thread(until, lambda: healthz(address) == 200)
        fresh = server.num_fds()
        async with visitor() as anna, visitor() as ben:
            for one in (anna, ben):
                await (await one.get(address)).read()
            tabs = [await tab(anna, address) for _ in range(3)]
            assert [one.status for one in tabs] == [101] * 3
            for _ in range(20):
                refused = await tab(anna, address)
                sentence = await refused.text()
                assert (refused.status, sentence) == (
                    429,
                    "You have 3 tabs going, and this host allows 3 at once. Close one.",
                )
            await asyncio.to_thread(
                until, lambda: server.num_fds() < fresh + 3 * DESCRIPTORS_PER_TAB + 6
            )  # not one for each of 20
            assert (await tab(ben, address)).status == 101, "another browser at this address"
            tabs.pop().close()
            tabs.append(await let_in(anna, address))
            assert (await tab(anna, address)).status == 429
