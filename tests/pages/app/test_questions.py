from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Event

import numpy as np
import pytest

from engine.config.run_config import RunConfig
from engine.foundation.errors import JobError, NoRoom
from pages.parts.app import questions
from pages.parts.app.questions import SharedCache


def test_changing_what_one_session_got_does_not_change_what_another_gets() -> None:
    answers, calls = SharedCache(4), []

    def answer(size: int) -> dict[str, object]:
        calls.append(size)
        return {"matrix": np.zeros((size, size)), "names": ["a"]}

    for _ in range(3):  # the one who asked first, too
        got = answers.get((RunConfig(), 3), lambda: answer(3))
        assert not got["matrix"].any()
        assert got["names"] == ["a"]
        got["matrix"][:] = 1
        got["names"].append("b")
    assert answers.if_known((RunConfig(), 3)) is not answers.if_known((RunConfig(), 3))
    assert calls == [3]


def test_an_equal_question_under_way_is_not_asked_twice() -> None:
    calls, go = [], Event()

    def slow(number: int) -> int:
        calls.append(number)
        go.wait(240)
        return number + 1

    answers = SharedCache(4)
    with ThreadPoolExecutor(4) as sessions:
        waiting = [sessions.submit(answers.get, number, partial(slow, number)) for number in (1, 1, 2, 1)]
        while len(calls) < 2:
            pass
        assert answers.if_known(1) is None
        go.set()
        assert [session.result() for session in waiting] == [2, 2, 3, 2]
    assert sorted(calls) == [1, 2]
    assert answers.if_known(1) == 2


def test_an_error_is_not_remembered_and_the_answers_asked_for_last_are_kept() -> None:
    calls = []

    def failing_once(number: int) -> int:
        calls.append(number)
        if len(calls) == 1:
            raise ValueError("The worker was stopped.")
        return number

    answers = SharedCache(4)
    with pytest.raises(ValueError, match="was stopped"):
        answers.get(1, lambda: failing_once(1))
    assert answers.if_known(1) is None
    assert answers.get(1, lambda: failing_once(1)) == 1
    assert calls == [1, 1]

    answers = SharedCache(2)
    for number in (1, 2, 1, 3):
        answers.get(number, partial(int, number))
    assert [answers.if_known(number) for number in (1, 2, 3)] == [1, None, 3]


@pytest.mark.parametrize(
    "reason", [JobError("You have 4 questions going."), KeyboardInterrupt()], ids=["refused", "ended"]
)
def test_what_concerns_one_asker_alone_is_not_told_to_those_who_wait(
    reason: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks, waits, answers = Event(), Event(), SharedCache(4)
    reason.__cause__ = NoRoom("You have 4 questions going.")

    @contextmanager
    def waiting() -> Iterator[None]:
        waits.set()
        yield

    def refused() -> str:
        asks.set()
        assert waits.wait(240)
        raise reason

    monkeypatch.setattr(questions, "out_of_turn", waiting)
    with ThreadPoolExecutor(2) as sessions:
        first = sessions.submit(answers.get, 1, refused)
        assert asks.wait(240)
        second = sessions.submit(answers.get, 1, lambda: "found")
        with pytest.raises(type(reason)):
            first.result()
        assert second.result() == "found"
