from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.foundation.background import BackgroundTask, TaskState
from engine.foundation.errors import JobError
from engine.foundation.visitor import PROGRAM, Visitor


class Scripted(BackgroundTask):
    def __init__(self, task: Callable[[Scripted], object] = lambda work: None, visitor: Visitor = PROGRAM) -> None:
        super().__init__("errand", visitor)
        self.task = task

    @property
    def share_done(self) -> float:
        return 0.5

    def _work(self) -> None:
        self.task(self)

    def until_stopped(self) -> None:
        self._stop.wait(240)


def raising(error: Exception) -> Callable[[BackgroundTask], None]:
    def task(_: BackgroundTask) -> None:
        raise error

    return task


@pytest.mark.parametrize(
    ("task", "state", "problem"),
    [
        (lambda work: None, "finished", ""),
        (raising(JobError("The worker was ended.")), "failed", "The worker was ended."),
        (raising(ZeroDivisionError("by zero")), "failed", "The errand ended by an error (ZeroDivisionError)."),
    ],
)
def test_how_it_ends_is_a_state_and_a_sentence(
    task: Callable[[Scripted], object], state: TaskState, problem: str
) -> None:
    work, states = Scripted(task), list[TaskState]()
    assert work.state == "running"
    work.start(lambda: states.append(work.state))
    assert work.wait(240)
    assert (work.state, work.problem, states) == (state, problem, [state])
    seconds = work.seconds
    assert work.seconds == seconds, "the clock stands still"


def test_a_stop_ends_it_and_waiting_waits_for_what_is_to_follow() -> None:
    work, states = Scripted(Scripted.until_stopped), list[str]()
    work.start(lambda: states.append("kept"))
    assert not work.wait(0.01)
    work.stop()
    assert work.wait(240)
    assert (work.state, states) == ("stopped", ["kept"])
