import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import plotly
import pytest
from anyio import to_thread
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.foundation.log import LOG
from engine.serving.cluster import SCHEDULER_VARIABLE
from engine.serving.health import Health
from pages.parts.app import server
from pages.parts.boards.component import PLOTLY_ADDRESS, packed_plotly, plotly_script
from pages.parts.boards.live.board import LIVE
from pages.parts.boards.recorded import recorded_runs
from pages.parts.web.compose import boards_route, healthz_route, plotly_route, serving

ROOT = Path(__file__).parents[3]
CODE = """
import pkgutil, sys
import app
assert not sys.modules["pandas"].__spec__._initializing
assert "pages.main" not in sys.modules
import pages.parts
for module in pkgutil.walk_packages(pages.parts.__path__, "pages.parts."):
    __import__(module.name)
from pages.parts.notebooks.notebook import NOTEBOOKS
from tests.pages.boards.test_live_board import ScriptedRun, opened
assert not opened(ScriptedRun().advance(20), recorded=True).exception
assert all(notebook.steps for notebook in NOTEBOOKS.values())
print(sorted({"torch", "nbformat"} & set(sys.modules)))
"""
FIRST_RUN = """
import sys
from threading import Event
from starlette.applications import Starlette
from starlette.testclient import TestClient
from pages.parts.web import compose
compose.FIRST_PAGE_SECONDS = 0.0
done, opened = Event(), []

def start():
    warm = set(sys.modules)
    from engine.foundation.provenance import provenance
    from pages.parts.boards.recorded import recorded_runs, recorded_updates, recorded_words
    sys.addaudithook(lambda event, given: opened.append(given[0]) if event in ("open", "subprocess.Popen") else None)
    provenance(), recorded_runs(), recorded_words(), recorded_updates()
    print(opened, sorted(name for name in set(sys.modules) - warm if name.startswith(("engine", "pages", "plotly"))))
    done.set()

made = compose.serving(find=lambda _: None, start=start, stop=list, health=dict, ask=lambda *_: None)
with TestClient(Starlette(lifespan=made["lifespan"])):
    done.wait()
"""


def test_what_the_first_run_asks_for_is_there_before_the_workers_start() -> None:
    """Else a class that presses Train together at a fresh server waits for it: nothing is read, imported or started then."""
    found = subprocess.run([sys.executable, "-c", FIRST_RUN], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert found.stdout.strip() == "[] []", found.stderr


def test_pandas_is_whole_before_the_first_page_runs_and_no_page_brings_torch(tmp_path: Path) -> None:
    """Contracts hold what pages import at once; this test also sees late imports.

    A page that imports pandas late breaks Plotly in the threads of other sessions, which meets a half imported module.
    """
    environment = os.environ | {"ATTENTION_LAB_DATA": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_in_the_engine_only_frames_import_pandas_and_nothing_imports_them_beforehand() -> None:
    """A worker, a command and a notebook do without its .8 s and 79 MB until somebody wants a frame."""
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / "engine").rglob("*.py")}
    importing = {name for name, text in sources.items() if re.search(r"(?m)^ *(import|from) pandas\b", text)}
    assert importing == {name for name in sources if name.endswith("frames.py")}
    beforehand = r"(?m)^(import|from) engine[.\w]*(frames\b| import .*frames\b)"
    assert not [name for name, text in sources.items() if re.search(beforehand, text)]


class Server:
    """As uvicorn's: the handler of the signals is a method of it."""

    should_exit = False

    def handle_exit(self, *_: object) -> None:
        self.should_exit = True


def test_asked_to_end_the_server_stops_its_workers_before_it_has_given_all_answers() -> None:
    stopped, before = threading.Event(), signal.signal(signal.SIGTERM, Server().handle_exit)
    made = serving(find=lambda _: None, start=list, stop=stopped.set, health=dict, ask=lambda *_: None)
    try:
        with TestClient(Starlette(routes=made["routes"], lifespan=made["lifespan"])):
            assert not stopped.is_set()
            os.kill(os.getpid(), signal.SIGTERM)
            assert stopped.wait(30), "an answer that waits for a worker would hold the end up"
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("ready", "status"), [(2, 200), (1, 200), (0, 503)])
def test_a_ready_worker_is_health(ready: int, status: int) -> None:
    numbers = {"ready": ready, "workers": 2, "running": 1, "queued": 0}
    client = TestClient(Starlette(routes=[healthz_route(lambda: numbers, "/lab")]))
    answer = client.get("/lab/healthz")
    assert (answer.status_code, answer.json()) == (status, numbers)
    assert answer.headers["cache-control"] == "no-store"
    assert client.post("/lab/healthz").status_code == 405


@pytest.fixture
def no_pool() -> Iterator[None]:
    """A server whose workers are not started; afterwards, too."""
    server.close()
    yield
    server.close()


@pytest.mark.usefixtures("no_pool")
def test_without_workers_the_answer_is_no_and_those_of_a_cluster_count_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    client = TestClient(Starlette(routes=[healthz_route(server.health)]))
    assert client.get("/healthz").status_code == 503
    machines = ("", "tls://10.0.0.7:1", "tls://10.0.0.7:2")
    workers: list[Any] = [
        SimpleNamespace(role="runs", ready=True, machine=machine, address=machine) for machine in machines
    ]
    made = Mock(health=lambda: Health(workers, 4, 2, 0, 1))
    monkeypatch.setattr("engine.serving.pool.Pool", lambda *_, **__: made)
    server.pool()
    assert client.get("/healthz").json() == {
        "ready": 3, "workers": 4, "running": 2, "queued": 1, "ready_here": 1, "ready_on_cluster": 2, "machines": 2,
    }  # fmt: skip


@pytest.mark.usefixtures("no_pool")
def test_a_scheduler_without_protection_is_one_sentence_in_the_log_and_no_worker_starts(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(LOG, "handlers", [caplog.handler])
    monkeypatch.setattr(LOG, "propagate", False)
    monkeypatch.setenv(SCHEDULER_VARIABLE, "tcp://10.0.0.7:8786")
    server.wake()
    (sentence,) = caplog.messages
    assert "tcp://10.0.0.7:8786" in sentence
    assert "tls://host:port" in sentence
    with pytest.raises(ValueError, match="tls://host:port"):
        server.pool()
    assert not server.health()["ready"]


def test_the_health_route_answers_while_all_threads_of_pages_wait() -> None:
    numbers, waiting, answered = {"ready": 1}, threading.Semaphore(0), threading.Event()

    def wait() -> None:
        waiting.release()
        answered.wait()

    app = Starlette(routes=[healthz_route(lambda: numbers)])
    with TestClient(app) as client, ThreadPoolExecutor(1) as visitor:
        for _ in range(threads_of(client)):
            client.portal.start_task_soon(to_thread.run_sync, wait)
            waiting.acquire()
        try:
            assert visitor.submit(client.get, "/healthz").result(240).json() == numbers
        finally:
            answered.set()


def threads_of(client: TestClient) -> int:
    """Threads that all pages of a server share."""

    async def threads() -> int:
        return int(to_thread.current_default_thread_limiter().total_tokens)

    return client.portal.call(threads)


@pytest.mark.parametrize("accepts", ["gzip", "identity"])
def test_the_script_of_a_board_is_cached_for_ever_and_named_by_its_content(accepts: str) -> None:
    client = TestClient(Starlette(routes=[boards_route({LIVE.address: LIVE}.copy, "/deep")]))
    answer = client.get(f"/deep/{LIVE.address}", headers={"Accept-Encoding": accepts})
    assert answer.headers.get("content-encoding", "identity") == accepts
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == LIVE.plain
    assert replace(LIVE, main="data").address != LIVE.address

    answer = client.get("/deep/boards/live-0000000000000000.js")
    assert (answer.status_code, answer.text) == (404, "There is no script of this name; reload the page.")


def test_plotly_is_the_installed_one_and_cached_for_ever() -> None:
    client = TestClient(Starlette(routes=[plotly_route()]))
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


def test_the_recorded_runs_exact_arrays_are_there_too() -> None:
    made = serving(find=lambda _: None, start=list, stop=list, health=dict, ask=lambda *_: None)
    with TestClient(Starlette(routes=made["routes"])) as asking:
        for run in recorded_runs().values():
            answer = asking.get(f"/live/{run.id}/0/patterns/self")
            assert answer.status_code == 200
            assert json.loads(answer.headers["x-shape"])[:2] == [run.config.n_layers, run.config.n_heads]
        assert asking.get("/live/another/0/patterns/self").status_code == 404
