"""The health route: yes while a worker is ready, no when none is."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.parts.app import server
from pages.parts.web.healthz import healthz_route


@pytest.mark.parametrize(("ready", "status"), [(2, 200), (1, 200), (0, 503)])
def test_a_ready_worker_is_health(ready: int, status: int) -> None:
    numbers = {"ready": ready, "workers": 2, "running": 1, "queued": 0}
    client = TestClient(Starlette(routes=[healthz_route(lambda: numbers, "/lab")]))
    answer = client.get("/lab/healthz")
    assert (answer.status_code, answer.json()) == (status, numbers)
    assert answer.headers["cache-control"] == "no-store"
    assert client.post("/lab/healthz").status_code == 405


def test_before_the_workers_are_started_the_answer_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_pool", None)
    assert TestClient(Starlette(routes=[healthz_route(server.health)])).get("/healthz").status_code == 503
