import asyncio
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

from engine.serving import protocol
from engine.serving.cluster import task
from engine.serving.processes.messages import read_value, write_value


def test_a_report_that_comes_while_the_app_asks_is_told_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = SimpleNamespace(tasks={}, commands=SimpleQueue(), address="")
    monkeypatch.setattr(task, "trainer", lambda training: trainer)
    monkeypatch.setattr(task, "POLLS", 1)
    run = task.Task("training", "a-run", {})
    received = list[protocol.Report]()

    def ask() -> None:
        received.extend(read_value(body) for body, _ in asyncio.run(run.poll([])))

    def ask_meanwhile(value: object) -> bytes:
        ask()
        return write_value(value)

    monkeypatch.setattr(task, "write_value", ask_meanwhile)
    reports = [protocol.RunUpdate("a-run", state="running"), protocol.Busy("a-run"), protocol.RunUpdate("a-run")]
    for report in reports:
        run.take(report)
    ask()
    assert received == reports
