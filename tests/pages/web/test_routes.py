"""The server's own routes: the event stream, Plotly's script, the headers."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly
import pytest
from anyio import Event
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from engine.foundation.errors import NoRoom
from engine.foundation.visitor import Visitor
from engine.runs.events import Progress, Snapshot
from engine.runs.log import EventLog, Table
from pages.parts.app.visitor import COOKIE, id_in
from pages.parts.boards.component import PLOTLY_ADDRESS, packed_plotly, plotly_script
from pages.parts.boards.live.board import LIVE
from pages.parts.boards.recorded import recorded_run
from pages.parts.web.compose import serving
from pages.parts.web.exact import exact_route, lines_route
from pages.parts.web.live import GRACE, live_route, stream
from pages.parts.web.messages import Messages
from pages.parts.web.middleware import SecurityHeaders, inline_script_hashes, security_headers
from pages.parts.web.scripts import boards_route, plotly_route
from tests.scripted import ScriptedRun
from tests.serving import running


@pytest.fixture
def run() -> ScriptedRun:
    finished = ScriptedRun()
    finished.advance(1000)
    return finished


@pytest.fixture
def client(run: ScriptedRun) -> Iterator[TestClient]:
    app = Starlette(
        routes=[
            live_route({run.id: run}.get),
            live_route({run.id: run}.get, "/deep/down"),
            lines_route({run.id: run}.get),
            exact_route({run.id: run}.get),
            plotly_route(),
            boards_route({LIVE.file.address: LIVE.file}.copy, "/deep"),
        ],
        middleware=[Middleware(SecurityHeaders, headers=security_headers())],
    )
    with TestClient(app) as asking:
        yield asking


def messages(text: str) -> list[tuple[int, dict[str, Any]]]:
    """(id, data) of each message in a stream."""
    found = []
    for block in text.split("\r\n\r\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            found.append((int(fields["id"]), json.loads(fields["data"])))
    return found


def test_a_finished_run_is_told_whole_and_the_stream_ends(client: TestClient, run: ScriptedRun) -> None:
    answer = client.get(f"/live/{run.id}?after=0")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert "no-store" in answer.headers["cache-control"]
    ((number, payload),) = messages(answer.text)
    assert number == len(run.events)
    assert payload["end"]
    assert payload["columns"]["loss"][0][-1] == 300


def test_last_event_id_goes_before_after_and_who_has_everything_is_told_not_to_come_back(
    client: TestClient, run: ScriptedRun
) -> None:
    answer = client.get(f"/live/{run.id}?after=0", headers={"Last-Event-ID": str(len(run.events) - 1)})
    ((_, payload),) = messages(answer.text)
    assert payload["after"] == len(run.events) - 1
    assert payload["columns"] == {}

    assert client.get(f"/live/{run.id}", headers={"Last-Event-ID": str(len(run.events))}).status_code == 204


def test_of_a_run_that_goes_on_at_another_server_the_browser_asks_again(client: TestClient, run: ScriptedRun) -> None:
    run.state, run.elsewhere = "running", True
    answer = client.get(f"/live/{run.id}?after=3")
    ((_, payload),) = messages(answer.text)
    assert (payload["after"], payload["end"], payload["status"]["state"]) == (3, False, "running")
    assert "retry: 3000" in answer.text


@pytest.mark.parametrize("run_id", ["unknown", "..%00", "a" * 500])
def test_an_unknown_run_is_one_sentence(client: TestClient, run_id: str) -> None:
    answer = client.get(f"/live/{run_id}")
    assert answer.status_code == 404
    assert answer.text == "There is no run with this id; it may have been deleted."


def test_a_bad_number_is_named_and_one_of_many_digits_is_refused_in_one_short_sentence(
    client: TestClient, run: ScriptedRun
) -> None:
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
            assert answer.text.endswith("; allowed is a whole number from 0 to 1000000000.")
            assert len(answer.text) < 150


def test_the_stream_is_read_only_and_lies_under_the_configured_path_too(client: TestClient, run: ScriptedRun) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert client.request(method, f"/live/{run.id}").status_code == 405
    assert client.get(f"/deep/down/live/{run.id}").status_code == 200


def test_a_snapshots_exact_arrays_are_read_by_step_and_name_and_no_others_are_given(
    client: TestClient, run: ScriptedRun
) -> None:
    looks = [event for event in run.events if isinstance(event, Snapshot)]
    for look in (looks[0], looks[-1]):
        answer = client.get(f"/live/{run.id}/{look.step}/patterns/self")
        found = np.frombuffer(answer.content, "<f4").reshape(json.loads(answer.headers["x-shape"]))
        np.testing.assert_array_equal(found, look.patterns["self"])
    assert client.get(f"/live/{run.id}/0/encoding/similarity").status_code == 200

    for path in ("0/patterns/cross", "7/patterns/self", "0/encoding/matrix.3"):
        answer = client.get(f"/live/{run.id}/{path}")
        assert (answer.status_code, answer.content) == (204, b""), "what a run does not keep is no error"
    assert client.get(f"/live/{run.id}/0/samples/self").status_code == 400
    assert client.get("/live/unknown/0/patterns/self").status_code == 404
    assert client.post(f"/live/{run.id}/0/patterns/self").status_code == 405


def test_a_runs_lines_are_read_with_every_step_and_every_digit(client: TestClient, run: ScriptedRun) -> None:
    answer = client.get(f"/live/{run.id}/lines", params={"name": ["loss", "validation.loss", "nothing"]})
    told = answer.json()
    progress = [event for event in run.events if isinstance(event, Progress)]
    assert told.keys() == {"loss", "validation.loss"}
    assert told["loss"] == [[event.step for event in progress], [event.loss for event in progress]]
    assert client.get("/live/unknown/lines").status_code == 404
    assert client.post(f"/live/{run.id}/lines").status_code == 405


class Watched(EventLog):
    """Events that note how often and by how many threads at once their steps are read."""

    times = inside = most = 0

    def tables(self, after: int = 0, upto: int | None = None) -> list[Table]:
        self.times, self.inside = self.times + 1, self.inside + 1
        self.most = max(self.most, self.inside)
        time.sleep(0.02)  # so that another thread could come in
        found = super().tables(after, upto)
        self.inside -= 1
        return found


def test_lines_are_made_one_after_another_whoever_asks(run: ScriptedRun) -> None:
    run.events = events = Watched(run.events)
    counted = Counted(8)
    app = Starlette(routes=[lines_route({run.id: run}.get, admit=counted)])
    with TestClient(app) as client, ThreadPoolExecutor(8) as visitors:
        answers = list(visitors.map(client.get, [f"/live/{run.id}/lines?name=loss&name=grad_norm"] * 8))
        assert {len(answer.json()) for answer in answers} == {2}
        assert events.most == 1
        assert (len(counted.came), counted.inside) == (8, 0)
        counted.most = 0
        answer = client.get(f"/live/{run.id}/lines?name=loss")
        assert (answer.status_code, answer.text) == (429, "You have enough streams.")
        many = "&".join(f"name=line{number}" for number in range(201))
        assert client.get(f"/live/{run.id}/lines?{many}").status_code == 400
        assert events.times == 16


def test_a_line_is_made_when_the_one_before_has_been_sent_and_the_answer_counts_until_then(run: ScriptedRun) -> None:
    run.events = events = Watched(run.events)
    counted = Counted(1)
    app = Starlette(routes=[lines_route({run.id: run}.get, admit=counted)])

    async def read_slowly() -> None:
        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Any) -> None:
            if message.get("more_body"):
                bodies.append(message["body"])
                assert counted.inside == 1
                assert events.times <= len(bodies)

        bodies = list[bytes]()
        query = b"name=loss&name=grad_norm&name=learning_rate"
        scope = {
            "type": "http", "method": "GET", "path": f"/live/{run.id}/lines", "headers": [], "query_string": query
        }  # fmt: skip
        await app(scope, receive, send)
        assert json.loads(b"".join(bodies)).keys() == {"loss", "grad_norm", "learning_rate"}

    asyncio.run(read_slowly())
    assert (len(counted.came), counted.inside) == (1, 0)


def test_the_recorded_runs_exact_arrays_are_there_too() -> None:
    made = serving(find=lambda _: None, start=list, stop=list, health=dict, ask=lambda *_: None)
    config = recorded_run().config
    with TestClient(Starlette(routes=made["routes"])) as asking:
        answer = asking.get(f"/live/{recorded_run().id}/0/patterns/self")
        assert answer.status_code == 200
        assert json.loads(answer.headers["x-shape"])[:2] == [config.n_layers, config.n_heads]
        assert asking.get("/live/another/0/patterns/self").status_code == 404


def collect(run: ScriptedRun, act: list[Any], beat: float = 0.005) -> list[tuple[int, dict[str, Any]]]:
    """Stream a run from its beginning; after each message the next act is performed on it."""

    async def listen() -> str:
        told = ""
        acts = iter(act)
        async for body in stream(Messages(run), 0, Event(), beat=beat):
            told += body.decode()
            if perform := next(acts, None):
                perform()
        return told

    return messages(asyncio.run(listen()))


def test_news_comes_as_it_happens_without_gap_or_double() -> None:
    run = ScriptedRun()
    told = collect(
        run, [lambda: run.advance(1), lambda: run.advance(20), lambda: run.advance(7), lambda: run.advance(999)]
    )
    steps = [step for _, payload in told for step in payload.get("columns", {}).get("loss", ([], []))[0]]
    assert steps == list(range(1, 301))
    assert [number for number, _ in told][1:] == [payload["last"] for _, payload in told][1:]
    assert all(later["after"] == number for (number, _), (_, later) in itertools.pairwise(told))
    assert told[-1][1]["end"]
    assert not told[-2][1]["end"]


def test_a_pause_is_told_although_no_event_happened() -> None:
    run = ScriptedRun()
    run.advance(3)

    def pause() -> None:
        run.state = "paused"

    def stop() -> None:
        run.state = "stopped"

    states = [payload["status"]["state"] for _, payload in collect(run, [pause, stop])]
    assert states == ["running", "paused", "stopped"]


def test_silence_is_broken_by_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.parts.web.live.KEEP_ALIVE", 0.01)
    run = ScriptedRun()
    run.advance(1)
    app = Starlette(routes=[live_route({run.id: run}.get)])

    async def first_comment() -> bytes:
        """Ask as a server does, and go away at the first comment."""
        commented = asyncio.Event()
        said = b""

        async def receive() -> dict[str, Any]:
            await commented.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal said
            if message.get("body", b"").startswith(b": "):
                said = message["body"]
                commented.set()

        path = f"/live/{run.id}"
        scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
        await app(scope, receive, send)
        return said

    assert asyncio.run(first_comment()).endswith(b"\r\n\r\n")


class Counted:
    """Lets so many streams in at once."""

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


def test_a_stream_too_many_is_refused_in_one_sentence_and_one_that_ended_counts_no_longer(
    run: ScriptedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
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

    async def noted(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            monkeypatch.setattr(AppStatus, "should_exit", True)
        await sleep(0)

    monkeypatch.setattr("pages.parts.web.live.REFUSED_AFTER", 3600.0)
    monkeypatch.setattr("pages.parts.web.live.LATEST", 3600.0)
    monkeypatch.setattr(asyncio, "sleep", noted)
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
    monkeypatch.setattr("pages.parts.web.live.PATIENCE", 0.05)
    run, counted = ScriptedRun(), Counted(1)
    run.advance(1)
    app = Starlette(routes=[live_route({run.id: run}.get, admit=counted)])

    async def listen() -> None:
        begun, never = asyncio.Event(), asyncio.Event()

        async def receive() -> dict[str, Any]:
            await (begun if ending == "gone" else never).wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body":
                assert counted.inside == 1
                begun.set()
                if ending == "reads nothing":
                    await never.wait()

        scope = {"type": "http", "method": "GET", "path": f"/live/{run.id}", "headers": [], "query_string": b""}
        await app(scope, receive, send)

    asyncio.run(listen())
    assert (len(counted.came), counted.inside) == (1, 0)


def test_a_paused_run_is_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    run, slept = ScriptedRun(), list[float]()
    run.advance(1)
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        slept.append(seconds)
        run.state = {1: "paused", 2: "stopped"}.get(len(slept), run.state)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", noted)
    collect(run, [], beat=0.05)
    assert slept == [0.05, pytest.approx(0.25)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_asked_to_stop_ends_its_streams_and_stops(number: signal.Signals, tmp_path: Path) -> None:
    """Otherwise it would wait for them for ever."""
    with running("tests/browser/site/app.py", tmp_path) as (process, address):
        with urllib.request.urlopen(f"{address}live/waiting") as told:
            assert told.readline().startswith(b"id: ")
            process.send_signal(number)
            assert b"queue_place" in told.read(), "it ended as streams end, not in the middle"
        process.wait()
    assert "Error" not in (tmp_path / "log.txt").read_text()


def test_a_long_history_is_a_short_message() -> None:
    run = ScriptedRun()
    run.state = "finished"
    run.events = EventLog(Progress(step, 1.0 / step, 1.0, 0.1, 100.0) for step in range(1, 20_001))
    ((_, payload),) = collect(run, [])
    assert len(payload["columns"]["loss"][0]) <= 500
    assert payload["columns"]["loss"][0][-1] == 20_000


@pytest.mark.parametrize("accepts", ["gzip", "identity"])
def test_the_script_of_a_board_is_cached_for_ever_and_named_by_its_content(client: TestClient, accepts: str) -> None:
    answer = client.get(f"/deep/{LIVE.file.address}", headers={"Accept-Encoding": accepts})
    assert answer.headers.get("content-encoding", "identity") == accepts
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == LIVE.file.plain
    assert replace(LIVE.file, plain=LIVE.file.plain + b" ").address != LIVE.file.address

    answer = client.get("/deep/boards/live-0000000000000000.js")
    assert (answer.status_code, answer.text) == (404, "There is no script of this name; reload the page.")


def test_plotly_is_the_installed_one_and_cached_for_ever(client: TestClient) -> None:
    packed_plotly.cache_clear()
    unpacked = client.get(f"/{PLOTLY_ADDRESS}", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in unpacked.headers, "the first page does not wait for the packing"
    packed_plotly()
    answer = client.get(f"/{PLOTLY_ADDRESS}", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.content == plotly_script()
    assert b"Plotly" in plotly_script()[:200]
    bare = client.get(f"/{PLOTLY_ADDRESS}", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in bare.headers
    assert bare.content == plotly_script()
    assert f"plotly-{plotly.__version__}.min.js" == PLOTLY_ADDRESS, "a new version has a new address"


def test_every_answer_carries_the_policy_which_allows_streamlits_inline_script_by_its_hash(
    client: TestClient, run: ScriptedRun
) -> None:
    for address in (f"/live/{run.id}", "/live/unknown", f"/{PLOTLY_ADDRESS}", "/nothing/here"):
        headers = client.get(address).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'self'"
        assert "unsafe-eval" not in policy["script-src"]
        assert "unsafe-inline" not in policy["script-src"]
        assert policy["frame-ancestors"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "SAMEORIGIN"

    hashes = inline_script_hashes()
    assert hashes
    assert all(source.startswith("'sha256-") for source in hashes)
    assert all(source in security_headers()["Content-Security-Policy"] for source in hashes)


def test_a_host_may_let_a_course_page_frame_the_app() -> None:
    headers = security_headers("'self' https://school.example")
    assert "frame-ancestors 'self' https://school.example" in headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in headers, "it knows no list and would forbid what the policy allows"
    for bad in ("'self'; script-src *", "a\nb", "a, b"):  # nobody writes another policy with the setting
        with pytest.raises(ValueError, match="ATTENTION_LAB_FRAME_ANCESTORS"):
            security_headers(bad)
