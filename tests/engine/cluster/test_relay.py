"""A relay passes on all that its processes say, in order, and gathers it where there is much."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from engine.cluster import relay
from engine.cluster.relay import ANSWERS, Relay


class Talker:
    """A stand-in for a worker process beside the relay that says a number every millisecond."""

    NUMBERS = 1000

    def __init__(self, name: str, arguments: Any, data: Any, say: Any) -> None:
        self.process = SimpleNamespace(pid=7, memory=lambda: 0, kill=lambda: None)
        self._name, self._say = name, say
        self._left = iter(range(self.NUMBERS))
        self._next()

    def _next(self) -> None:
        number = next(self._left, None)
        if number is not None:
            self._say([["report", self._name, number]])
            asyncio.get_running_loop().call_later(0.001, self._next)


def test_many_messages_are_passed_on_in_few_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "Child", Talker)

    async def heard() -> tuple[list[int], int, float]:
        worker: Any = SimpleNamespace(handlers={})
        one = Relay("app")
        one.setup(worker)
        call = worker.handlers[one.name]
        await call("session", "begin")
        numbers, answers, began = list[int](), 0, time.monotonic()
        await call("session", "push", [["start", "talker", []]])
        while len(numbers) < Talker.NUMBERS:
            numbers += [item[2] for item in await call("session", "pull") if item[0] == "report"]
            answers += 1
        seconds = time.monotonic() - began
        one.teardown(worker)
        assert worker.handlers == {}
        return numbers, answers, seconds

    numbers, answers, seconds = asyncio.run(heard())
    assert numbers == list(range(Talker.NUMBERS))
    assert answers <= seconds * ANSWERS + ANSWERS + 2
