"""The routes of an untrained model and of a typed sequence: an answer, or one sentence why there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.foundation.job import Job
from engine.foundation.visitor import Visitor
from engine.workers.errors import JobError
from pages.parts.web.look import own_route, untrained_route

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
