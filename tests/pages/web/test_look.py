"""The routes of an untrained model and of a typed sequence: an answer, or one sentence why there is none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from anyio import to_thread
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.foundation.errors import JobError
from engine.foundation.job import Job
from engine.foundation.visitor import Visitor
from pages.parts.boards.component import PLOTLY_ADDRESS
from pages.parts.web.compose import healthz_route
from pages.parts.web.look import own_route, untrained_route
from pages.parts.web.scripts import plotly_route

Get = Callable[[str], dict[str, Any]]


@pytest.fixture
def asked() -> list[Job[Any]]:
    return []


@pytest.fixture
def get(asked: list[Job[Any]]) -> Get:
    """Ask an address whose jobs are done in this process."""

    def ask(job: Job[Any], _: Visitor) -> Any:
        asked.append(job)
        try:
            return job.do()
        except ValueError as error:
            raise JobError(str(error)) from error

    routes = [untrained_route(ask), own_route(ask, lambda _: None)]
    client = TestClient(Starlette(routes=routes))

    def answer(path: str) -> dict[str, Any]:
        told = client.get(path)
        assert told.status_code == 200
        found: dict[str, Any] = told.json()
        return found

    return answer


def test_an_untrained_model_is_the_beginning_of_a_run(get: Get, asked: list[Job[Any]]) -> None:
    told = get("/untrained?v=1&seq_len=4&device=cpu&seed=5")
    assert told["status"]["state"] == "none"
    assert [snapshot["step"] for snapshot in told["snapshots"]] == [0]
    assert {"loss", "accuracy", "memory", "matrix", "pattern.self"} <= told["figures"].keys()
    assert told["milestones"]["levels"]["half right"] == 0.5
    get("/untrained?v=1&seq_len=4&device=cpu&seed=5")
    assert len(asked) == 1  # the second visitor gets the same answer


def test_a_typed_sequence_is_read_by_the_untrained_model(get: Get) -> None:
    snapshot = get("/own?v=1&seq_len=4&device=cpu&text=1+2+3+4")["snapshot"]
    assert snapshot["samples"][0]["tokens"][:4] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/untrained?v=1&n_layers=many", "n_layers"),
        ("/untrained?v=1&n_layers=12&d_model=512&seq_len=512&n_heads=8&batch_size=512", "once it trains"),
        ("/own?v=1&seq_len=4&text=1+x+3", "x"),
        ("/own?run=nobody&text=1+2", "run is"),
        (f"/own?v=1&text={'1+' * 1500}", "characters"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(get: Get, path: str, words: str) -> None:
    problem = get(path)["problem"]
    assert words in problem
    assert problem.endswith(".")


def test_questions_that_wait_hold_up_no_page() -> None:
    waiting, answered = threading.Semaphore(0), threading.Event()

    def ask(job: Job[Any], _: Visitor) -> Any:
        waiting.release()
        answered.wait()
        raise JobError("It has waited long enough.")

    app = Starlette(routes=[untrained_route(ask), plotly_route()])
    with TestClient(app) as client, ThreadPoolExecutor(64) as visitors:
        usual = threads_of(client)
        asking = [visitors.submit(client.get, f"/untrained?v=1&seq_len=4&seed={seed}") for seed in range(usual)]
        for _ in range(usual):
            waiting.acquire()
        try:
            assert visitors.submit(client.get, f"/{PLOTLY_ADDRESS}").result(240).status_code == 200
        finally:
            answered.set()
        assert {answer.result().json()["problem"] for answer in asking} == {"It has waited long enough."}


def test_the_health_route_answers_while_all_threads_of_pages_wait() -> None:
    numbers, waiting, answered = {"ready": 1}, threading.Semaphore(0), threading.Event()

    def wait() -> None:
        waiting.release()
        answered.wait()

    app = Starlette(routes=[healthz_route(lambda: numbers)])
    with TestClient(app) as client, ThreadPoolExecutor(1) as visitor:
        assert client.portal is not None
        for _ in range(threads_of(client)):
            client.portal.start_task_soon(to_thread.run_sync, wait)
            waiting.acquire()
        try:
            assert visitor.submit(client.get, "/healthz").result(240).json() == numbers
        finally:
            answered.set()


def threads_of(client: TestClient) -> int:
    """The number of threads that all pages of a server share."""
    assert client.portal is not None

    async def threads() -> int:
        return int(to_thread.current_default_thread_limiter().total_tokens)

    return client.portal.call(threads)
