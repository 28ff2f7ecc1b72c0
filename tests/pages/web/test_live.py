import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock
from weakref import ref

import pytest
from anyio import Event
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.foundation.errors import NoRoom
from engine.foundation.visitor import Visitor
from engine.runs.events import Snapshot
from pages.parts.app.visitor import COOKIE, id_in
from pages.parts.boards.live import board_updates
from pages.parts.web.live import (
    GRACE,
    MAX_MESSAGES,
    RECENT,
    Message,
    Messages,
    MessagesOfRuns,
    RunVersion,
    live_route,
    stream,
)
from tests.scripted import ScriptedRun


@pytest.fixture
def run() -> ScriptedRun:
    return ScriptedRun().advance(1000)


@pytest.fixture
def client(run: ScriptedRun) -> Iterator[TestClient]:
    routes = [live_route({run.id: run}.get), live_route({run.id: run}.get, "/deep/down")]
    with TestClient(Starlette(routes=routes)) as asking:
        yield asking


def messages(text: str) -> list[tuple[int, dict[str, Any]]]:
    """(id, data) of each message in a stream."""
    found = []
    for block in text.split("\r\n\r\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            found.append((int(fields["id"]), json.loads(fields["data"])))
    return found


def test_a_finished_run_is_told_from_where_the_reader_is_to_its_end(client: TestClient, run: ScriptedRun) -> None:
    answer = client.get(f"/live/{run.id}?after=0")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert "no-store" in answer.headers["cache-control"]
    ((number, payload),) = messages(answer.text)
    assert number == len(run.events)
    assert payload["end"]
    assert payload["columns"]["loss"][0][-1] == 300

    # The browser's own number goes before the address's, and who has everything is told not to come back.
    answer = client.get(f"/live/{run.id}?after=0", headers={"Last-Event-ID": str(number - 1)})
    ((_, payload),) = messages(answer.text)
    assert (payload["after"], payload["columns"]) == (number - 1, {})
    assert client.get(f"/live/{run.id}", headers={"Last-Event-ID": str(number)}).status_code == 204


def test_the_stream_is_read_only_and_what_is_no_run_or_number_is_named(client: TestClient, run: ScriptedRun) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert client.request(method, f"/live/{run.id}").status_code == 405
    assert client.get(f"/deep/down/live/{run.id}").status_code == 200, "under a configured path too"
    for name in ("unknown", "..%00", "a" * 500):
        answer = client.get(f"/live/{name}")
        assert answer.status_code == 404
        assert answer.text == "There is no run with this id; it may have been deleted."
    for after in ("-1", "x", "1.5", "²"):
        answer = client.get(f"/live/{run.id}", params={"after": after})
        assert answer.status_code == 400
        assert after in answer.text
        assert "whole number" in answer.text
    for many in ("9" * 11, "9" * 5_000):
        for answer in (
            client.get(f"/live/{run.id}", params={"after": many}),
            client.get(f"/live/{run.id}", headers={"Last-Event-ID": many}),
        ):
            assert answer.status_code == 400
            assert answer.text.startswith("after is 999")
            assert answer.text.endswith("; it must be a whole number from 0 to 1000000000.")
            assert len(answer.text) < 150


def collect(run: ScriptedRun, act: list[Any]) -> list[tuple[int, dict[str, Any]]]:
    """Stream a run from its beginning; after each message the next act is performed on it."""

    async def listen() -> str:
        text = ""
        acts = iter(act)
        async for body in stream(Messages(run), 0, Event()):
            text += body.decode()
            if perform := next(acts, None):
                perform()
        return text

    return messages(asyncio.run(listen()))


def test_news_comes_as_it_happens_without_gap_or_double_and_so_does_a_pause_which_is_no_event() -> None:
    run = ScriptedRun()

    def pause() -> None:
        run.state = "paused"

    def go_on(steps: int) -> None:
        run.state = "running"
        run.advance(steps)

    acts = [lambda: run.advance(1), lambda: run.advance(20), pause, lambda: go_on(7), lambda: run.advance(999)]
    messages_of_run = collect(run, acts)
    steps = [step for _, payload in messages_of_run for step in payload.get("columns", {}).get("loss", ([], []))[0]]
    assert steps == list(range(1, 301))
    snapshot_steps = [snapshot["step"] for _, payload in messages_of_run for snapshot in payload.get("snapshots", [])]
    assert snapshot_steps == [event.step for event in run.events.of(Snapshot)]
    assert [number for number, _ in messages_of_run][1:] == [payload["last"] for _, payload in messages_of_run][1:]
    assert all(later["after"] == number for (number, _), (_, later) in itertools.pairwise(messages_of_run))
    states = ["queued", "running", "running", "paused", "running", "finished"]
    assert [payload["status"]["state"] for _, payload in messages_of_run] == states
    assert [payload["end"] for _, payload in messages_of_run] == [False] * 5 + [True]


async def ask(app: Starlette, path: str, send: Any, disconnected: asyncio.Event, query: bytes = b"") -> None:
    """Ask as a server does; the reader goes away once ``gone`` is set."""

    async def receive() -> dict[str, Any]:
        await disconnected.wait()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": query}
    await app(scope, receive, send)


def test_silence_is_broken_by_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.parts.web.live.KEEP_ALIVE", 0.01)
    run, comments = ScriptedRun().advance(1), list[bytes]()

    async def until_a_comment() -> None:
        async def send(message: Any) -> None:
            if message.get("body", b"").startswith(b": "):
                comments.append(message["body"])
                disconnected.set()

        disconnected = asyncio.Event()
        await ask(Starlette(routes=[live_route({run.id: run}.get)]), f"/live/{run.id}", send, disconnected)

    asyncio.run(until_a_comment())
    assert comments[0].endswith(b"\r\n\r\n")


class Counted:
    def __init__(self, most: int) -> None:
        self.most, self.inside, self.came = most, 0, list[Visitor]()

    def __call__(self, visitor: Visitor) -> Callable[[], None]:
        if self.inside >= self.most:
            raise NoRoom("You have enough streams.")
        self.inside += 1
        self.came.append(visitor)
        return self.leave

    def leave(self) -> None:
        self.inside -= 1


def test_a_stream_too_many_is_refused_until_another_ends(run: ScriptedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.parts.web.live.REFUSED_AFTER", 0.0)
    counted = Counted(1)
    with TestClient(Starlette(routes=[live_route({run.id: run}.get, admit=counted)])) as client:
        for _ in range(3):
            assert client.get(f"/live/{run.id}").status_code == 200
            assert counted.inside == 0
        assert client.get("/live/unknown").status_code == 404
        counted.most = 0
        answer = client.get(f"/live/{run.id}")
    assert (answer.status_code, answer.text) == (429, "You have enough streams.")


def test_a_server_that_is_asked_to_stop_waits_for_no_refusal(run: ScriptedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    slept, sleep = list[float](), asyncio.sleep

    async def note(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            monkeypatch.setattr(AppStatus, "should_exit", True)
        await sleep(0)

    monkeypatch.setattr("pages.parts.web.live.REFUSED_AFTER", 3600.0)
    monkeypatch.setattr("pages.parts.web.live.LATEST", 3600.0)
    monkeypatch.setattr(asyncio, "sleep", note)
    with TestClient(Starlette(routes=[live_route({run.id: run}.get, admit=Counted(0))])) as client:
        assert client.get(f"/live/{run.id}").status_code == 429
    assert len(slept) == 2
    assert max(slept) <= GRACE


def test_a_visitor_is_known_by_its_cookie_else_by_its_address(run: ScriptedRun) -> None:
    counted, cookie = Counted(1), "c" * 43
    app = Starlette(routes=[live_route({run.id: run}.get, admit=counted)])
    for address, cookies in (("10.0.0.1", {COOKIE: cookie}), ("10.0.0.1", {}), ("10.0.0.2", {}), ("127.0.0.1", {})):
        with TestClient(app, client=(address, 1), cookies=cookies) as client:
            client.get(f"/live/{run.id}")
    known, one, two, local = counted.came
    assert known == Visitor(id_in({COOKIE: cookie}) or "", "10.0.0.1")
    assert len({visitor.id for visitor in (known, one, two, local)}) == 4
    assert all(visitor.id for visitor in counted.came), "an empty id would have no limits"
    assert (one.address, two.address, local.address) == ("10.0.0.1", "10.0.0.2", "")


@pytest.mark.parametrize("ending", ["gone", "reads nothing"])
def test_a_stream_whose_reader_has_gone_or_reads_nothing_is_ended(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.parts.web.live.SEND_SECONDS", 0.05)
    run, counted = ScriptedRun().advance(1), Counted(1)
    app = Starlette(routes=[live_route({run.id: run}.get, admit=counted)])

    async def listen() -> None:
        begun, never = asyncio.Event(), asyncio.Event()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body":
                assert counted.inside == 1
                begun.set()
                if ending == "reads nothing":
                    await never.wait()

        await ask(app, f"/live/{run.id}", send, begun if ending == "gone" else never)

    asyncio.run(listen())
    assert (len(counted.came), counted.inside) == (1, 0)


def test_a_stream_sleeps_until_its_run_changes_and_who_left_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.parts.web.live.STOP_WITHIN", 3600.0)  # only a change can wake it up
    run, wakes, heard = ScriptedRun().advance(1), list[RunVersion](), list[bytes]()

    class CountingMessages(Messages):
        @property
        def now(self) -> RunVersion:
            wakes.append(super().now)
            return wakes[-1]

    async def listen() -> None:
        stopping = Event()
        async for body in stream(CountingMessages(run), 0, stopping):
            heard.append(body)
            if len(heard) == 2:
                stopping.set()
            else:
                asyncio.get_running_loop().call_later(0.05, run.advance, 1)

    asyncio.run(listen())
    assert len(wakes) <= 6, "it looked again and again while nothing happened"
    assert run.watchers == []


START = RunVersion(0)


@pytest.fixture
def feed_mock(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Counts the messages that are made."""
    counted = Mock(wraps=board_updates.updates_after)
    monkeypatch.setattr(board_updates, "updates_after", counted)
    return counted


@pytest.fixture
def short_run() -> ScriptedRun:
    return ScriptedRun().advance(5)


def messages_since(messages: Messages, heard: RunVersion = START) -> Iterator[Message]:
    """All messages up to now to a listener who knows so much."""
    while heard != messages.now:
        message = messages.get(heard) or messages.make(heard)
        yield message
        heard = message.upto


def payload_of(message: Message) -> dict[str, Any]:
    ((_, payload),) = messages(message.body.decode())
    return payload


def steps_in(messages: list[Message]) -> list[int]:
    return [step for message in messages for step in payload_of(message).get("columns", {}).get("loss", ([], []))[0]]


def test_two_hundred_who_come_at_once_cost_one_message(short_run: ScriptedRun, feed_mock: Mock) -> None:
    messages = Messages(short_run)
    with ThreadPoolExecutor(16) as threads:
        bodies = list(threads.map(lambda _: messages.make(START).body, range(200)))
    assert len({id(body) for body in bodies}) == 1
    assert feed_mock.call_count == 1


def test_who_comes_later_or_asks_at_another_time_gets_the_same_and_misses_nothing(
    short_run: ScriptedRun, feed_mock: Mock
) -> None:
    messages = Messages(short_run)
    quick, slow = list(messages_since(messages)), list(messages_since(messages))
    for _ in range(6):
        short_run.advance(2)
        quick += messages_since(messages, quick[-1].upto)
    slow += messages_since(messages, slow[-1].upto)
    late = list(messages_since(messages))
    assert steps_in(quick) == steps_in(slow) == steps_in(late) == list(range(1, 18))
    assert late[0].body is slow[0].body is quick[0].body
    assert feed_mock.call_count == 7, "nothing was made again"
    short_run.advance(999)
    (message,) = messages_since(messages, quick[-1].upto)
    assert message.last
    assert message.upto == (len(short_run.events), "finished", None)


def test_states_that_come_back_without_an_event_go_round_in_no_circle(short_run: ScriptedRun) -> None:
    messages = Messages(short_run)
    heard = list(messages_since(messages))
    for state in ("paused", "running", "paused", "running"):
        short_run.state = state
        heard += messages_since(messages, heard[-1].upto)
    assert [payload_of(message)["status"]["state"] for message in heard] == [
        "running", "paused", "running", "paused", "running",
    ]  # fmt: skip
    short_run.advance(2)
    for at in {message.upto for message in heard}:
        assert steps_in(list(messages_since(messages, at))) == [6, 7]


def test_what_is_kept_does_not_grow_and_who_was_away_for_long_misses_nothing(short_run: ScriptedRun) -> None:
    messages = Messages(short_run)
    away = list(messages_since(messages))
    heard, made_messages = away[-1].upto, list[ref[Message]]()
    for _ in range(3 * MAX_MESSAGES):
        short_run.advance(1)
        message = messages.make(heard)
        heard = message.upto
        made_messages.append(ref(message))
    del message
    assert sum(one() is not None for one in made_messages) <= MAX_MESSAGES
    assert steps_in([*away, *messages_since(messages, away[-1].upto)]) == list(range(1, 6 + 3 * MAX_MESSAGES))


def test_a_runs_messages_are_those_of_all_who_listen_and_go_with_the_last() -> None:
    of_runs, first = MessagesOfRuns(), ScriptedRun(id="first")
    listening = of_runs.of(first)
    others = [ref(of_runs.of(ScriptedRun(id=f"run {number}"))) for number in range(3 * RECENT)]
    assert of_runs.of(first) is listening
    assert of_runs.of(ScriptedRun(id="first")) is not listening, "the store read the run anew"
    assert sum(one() is not None for one in others) <= RECENT
