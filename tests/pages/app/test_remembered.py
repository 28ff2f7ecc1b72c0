"""What workers answered is remembered for all sessions, and each session has its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from engine.config.run_config import RunConfig
from pages.parts.app.remembered import Remembered, remembered


def test_changing_what_one_session_got_does_not_change_what_another_gets() -> None:
    asked = []

    @remembered(4)
    def answer(config: RunConfig, size: int) -> dict[str, object]:
        """What is asked."""
        asked.append(size)
        return {"matrix": np.zeros((size, size)), "names": ["a"]}

    for _ in range(3):  # the one who asked first, too
        got = answer(RunConfig(), 3)
        assert isinstance(got["matrix"], np.ndarray)
        assert isinstance(got["names"], list)
        assert not got["matrix"].any()
        assert got["names"] == ["a"]
        got["matrix"][:] = 1
        got["names"].append("b")
    assert answer.if_known(RunConfig(), 3) is not answer.if_known(RunConfig(), 3)
    assert asked == [3]
    assert answer.__doc__ == "What is asked."


def test_an_equal_question_under_way_is_not_asked_twice() -> None:
    asked, go = [], Event()

    def slow(number: int) -> int:
        asked.append(number)
        go.wait(240)
        return number + 1

    answer = Remembered(slow, 4)
    with ThreadPoolExecutor(4) as sessions:
        waiting = [sessions.submit(answer, number) for number in (1, 1, 2, 1)]
        while len(asked) < 2:
            pass
        assert answer.if_known(1) is None
        go.set()
        assert [session.result() for session in waiting] == [2, 2, 3, 2]
    assert sorted(asked) == [1, 2]
    assert answer.if_known(1) == 2


def test_an_error_is_not_remembered_and_the_answers_asked_for_last_are_kept() -> None:
    asked = []

    def failing_once(number: int) -> int:
        asked.append(number)
        if len(asked) == 1:
            raise ValueError("The worker was stopped.")
        return number

    answer = Remembered(failing_once, 4)
    with pytest.raises(ValueError, match="was stopped"):
        answer(1)
    assert answer.if_known(1) is None
    assert answer(1) == 1
    assert asked == [1, 1]

    answer = Remembered(lambda number: number, 2)
    for number in (1, 2, 1, 3):
        answer(number)
    assert [answer.if_known(number) for number in (1, 2, 3)] == [1, None, 3]
