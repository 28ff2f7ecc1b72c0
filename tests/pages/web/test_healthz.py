"""The health route: yes while a worker is ready, no when none is."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.cluster import SCHEDULER_VARIABLE
from engine.foundation.log import LOG
from engine.workers.health import Health
from pages.parts.app import server
from pages.parts.web.compose import healthz_route


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
def test_before_the_workers_are_started_the_answer_is_no() -> None:
    assert TestClient(Starlette(routes=[healthz_route(server.health)])).get("/healthz").status_code == 503


@pytest.mark.usefixtures("no_pool")
def test_the_workers_of_the_cluster_are_counted_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    machines = ("", "tls://10.0.0.7:1", "tls://10.0.0.7:2")
    workers: list[Any] = [SimpleNamespace(role="runs", ready=True, machine=machine) for machine in machines]

    class FakePool:
        def __init__(self, *_: object, **__: object) -> None: ...

        def health(self) -> Health:
            return Health(workers, 4, 2, 0, 1)

        def close(self) -> None: ...

    monkeypatch.setattr("engine.workers.pool.Pool", FakePool)
    server.pool()
    told = TestClient(Starlette(routes=[healthz_route(server.health)])).get("/healthz").json()
    assert told == {
        "ready": 3, "workers": 4, "running": 2, "queued": 1, "ready_here": 1, "ready_on_cluster": 2, "machines": 2,
    }  # fmt: skip


@pytest.mark.usefixtures("no_pool")
def test_a_scheduler_without_protection_is_one_sentence_in_the_log_and_no_worker_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    kept = Kept()
    LOG.addHandler(kept)
    monkeypatch.setenv(SCHEDULER_VARIABLE, "tcp://10.0.0.7:8786")
    try:
        server.wake()
    finally:
        LOG.removeHandler(kept)
    (sentence,) = said
    assert "tcp://10.0.0.7:8786" in sentence
    assert "tls://host:port" in sentence
    with pytest.raises(ValueError, match="tls://host:port"):
        server.pool()
    assert not server.health()["ready"]
