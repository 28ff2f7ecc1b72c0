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


class Told:
    """A stand-in for a worker process that says what it is told to, and whether it was killed."""

    def __init__(self, name: str, arguments: Any, data: Any, say: Any) -> None:
        self.process = SimpleNamespace(pid=7, memory=lambda: 0, kill=self.kill)
        self.name, self.say, self.killed = name, say, False
        arguments.append(self)

    def kill(self) -> None:
        self.killed = True


def test_an_end_from_an_earlier_session_is_not_taken_for_that_of_a_process_of_the_same_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "Child", Told)

    async def heard() -> tuple[list[Any], list[Told]]:
        worker: Any = SimpleNamespace(handlers={})
        one, children = Relay("app"), list[Told]()
        one.setup(worker)
        call = worker.handlers[one.name]
        for session in ("first", "second"):
            await call(session, "begin")
            await call(session, "push", [["start", "worker-1", children]])
        old, new = children
        old.say([["end", "worker-1", "signal -9"]])
        new.say([["report", "worker-1", b"here"]])
        told = await call("second", "pull")
        assert not new.killed
        one.teardown(worker)
        return told, children

    told, children = asyncio.run(heard())
    assert told == [["report", "worker-1", b"here"]]
    assert [child.killed for child in children] == [True, True]
