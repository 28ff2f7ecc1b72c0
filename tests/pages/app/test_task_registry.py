"""The works of a server process: one of a session at a time, the same one once for all, the old ones forgotten."""

from threading import Event

import pytest

from engine.foundation.errors import Refused
from engine.foundation.visitor import Visitor
from engine.serving.allowances import Allowances
from engine.serving.limits import Limits
from pages.parts.app.task_registry import MAX_TASKS, TaskRegistry
from tests.engine.foundation.test_background import Scripted
from tests.engine.full_disk import full

ME, YOU = Visitor("me"), Visitor("you")


@pytest.fixture
def tasks() -> TaskRegistry[Scripted]:
    allowances = Allowances(Limits())
    return TaskRegistry("experiment", lambda: allowances)


def test_one_of_a_visitor_at_a_time(tasks: TaskRegistry[Scripted]) -> None:
    first, other = Scripted(Scripted.until_stopped, ME), Scripted(visitor=YOU)
    name = tasks.begin(first)
    assert (tasks.running_of(ME), tasks.running_of(YOU)) == (name, "")
    assert tasks.running_of(ME, lambda task: task is other) == ""
    with pytest.raises(Refused, match=r"You have 1 experiment going, and this host allows 1 at once. Stop it"):
        tasks.begin(Scripted(visitor=ME))
    tasks.begin(other)
    first.stop()
    assert first.wait(240)
    assert tasks.running_of(ME) == ""


def test_the_same_one_is_not_started_twice_and_anew_once_it_is_over(tasks: TaskRegistry[Scripted]) -> None:
    first, second, third = (Scripted(Scripted.until_stopped, Visitor(name)) for name in "abc")
    assert tasks.begin(first, name="same") == tasks.begin(second, name="same") == "same"
    assert tasks.find("same") is first
    assert tasks.running_of(Visitor("b")) == "same"
    with pytest.raises(Refused, match="Somebody else started this"):
        tasks.leave("same", Visitor("c"))
    tasks.leave("same", Visitor("a"))
    assert first.state == "running"  # b still asks for it
    tasks.leave("same", Visitor("b"))
    assert first.wait(240)
    assert first.state == "stopped"
    tasks.begin(third, name="same")
    assert tasks.find("same") is third
    third.stop()
    assert third.wait(240)


def test_stop_may_be_pressed_twice_and_after_the_end(tasks: TaskRegistry[Scripted]) -> None:
    goes_on = Event()
    slow = Scripted(lambda _: goes_on.wait(240), ME)
    name = tasks.begin(slow)
    tasks.leave(name, ME)
    tasks.leave(name, ME)  # it stops, and has not ended yet
    goes_on.set()
    assert slow.wait(240)
    tasks.leave(name, ME)
    assert (slow.state, tasks.running_of(ME)) == ("stopped", "")


def test_what_is_over_is_kept_by_name_and_a_full_disk_is_said(
    tasks: TaskRegistry[Scripted], caplog: pytest.LogCaptureFixture
) -> None:
    work, kept = Scripted(), list[str]()
    name = tasks.begin(work, keep=kept.append)
    assert work.wait(240)
    assert kept == [name]

    again = Scripted()
    name = tasks.begin(again, keep=full)
    assert again.wait(240)
    assert (work.unsaved, again.state) == ("", "finished")
    assert again.unsaved == "The experiment is over, and its result cannot be saved: No space left on device."
    assert f"The result of experiment {name} cannot be saved: No space left on device" in caplog.text


def test_one_whose_result_is_still_being_kept_no_longer_runs(tasks: TaskRegistry[Scripted]) -> None:
    reached, goes_on = Event(), Event()

    def keep(_: str) -> None:
        reached.set()
        goes_on.wait(240)

    work = Scripted(visitor=ME)
    tasks.begin(work, keep=keep)
    assert reached.wait(240)
    assert (work.state, tasks.running_of(ME)) == ("finished", "")
    goes_on.set()
    assert work.wait(240)


def test_old_ones_are_forgotten_but_none_that_goes(tasks: TaskRegistry[Scripted]) -> None:
    running = Scripted(Scripted.until_stopped, ME)
    first = tasks.begin(running)
    names = []
    for _ in range(MAX_TASKS + 10):
        work = Scripted()
        names.append(tasks.begin(work))
        assert work.wait(240)
    assert tasks.find(names[0]) is None
    assert tasks.find(names[-1]) is not None
    assert tasks.find(first) is running
    running.stop()
    assert running.wait(240)


def test_one_that_cannot_be_started_takes_no_room(
    tasks: TaskRegistry[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(Scripted, "start", no_thread)
        with pytest.raises(Refused, match="It cannot be started now: can't start new thread"):
            tasks.begin(Scripted(visitor=ME))
    task = Scripted(visitor=ME)
    tasks.begin(task)
    assert task.wait(240)
