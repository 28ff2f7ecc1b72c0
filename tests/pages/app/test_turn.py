from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from threading import Barrier, Event, Lock, Timer, local
from typing import Any

import pytest

from engine.foundation.visitor import RateLimit, Visitor
from pages.parts.app import turn


def most_together(computing: Sequence[float]) -> int:
    """The most script runs inside a turn at the same time, if each computes for so many seconds there."""
    inside, most, lock = 0, 0, Lock()

    def script_run(seconds: float) -> None:
        nonlocal inside, most
        with turn.in_turn():
            with lock:
                inside, most = inside + 1, max(most, inside + 1)
            Event().wait(seconds)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(script_run, computing))
    return most


@pytest.mark.parametrize(("visitors", "waits", "at_once"), [(1, False, 2), (2, True, 2), (30, True, 1)])
def test_who_has_computed_for_long_waits_for_others(monkeypatch: Any, visitors: int, waits: bool, at_once: int) -> None:
    slept: list[float] = []
    monkeypatch.setattr(turn, "visitor", lambda: Visitor(f"flood {visitors}", ""))
    monkeypatch.setattr(turn, "number_present", lambda: visitors)
    monkeypatch.setattr(turn.time, "sleep", slept.append)
    computed = iter(float(second) for second in range(1000))
    monkeypatch.setattr(turn.time, "thread_time", lambda: next(computed))  # each script run takes a second
    for _ in range(50):
        with turn.in_turn(), turn.in_turn():  # the fragment of a page takes no turn of its own
            pass
    assert (max(slept, default=0.0) > 5.0) == waits
    assert max(slept, default=0.0) <= turn.MAX_VISITOR_WAIT_SECONDS
    assert not any(slept[:at_once])


def test_script_runs_cost_more_where_more_visitors_are_here_and_where_one_visitor_has_many() -> None:
    prices = [turn.price(visitors, 1) for visitors in (1, 2, 3, 6, 12, 30, 300)]
    assert prices == sorted(prices)
    assert (prices[0], prices[-1]) == (1 / turn.MAX_VISITOR_SHARE, 1 / turn.MIN_VISITOR_SHARE)
    assert prices[3] == pytest.approx(6 / turn.ALL_VISITORS_SHARE)

    prices = [turn.price(30, under_way) for under_way in range(1, 31)]
    assert prices == pytest.approx(
        [max(1.0, number / turn.SCRIPTS_WITHOUT_PENALTY) * prices[0] for number in range(1, 31)]
    )


def test_those_of_one_visitor_that_get_their_answers_together_go_on_at_the_visitors_pace(monkeypatch: Any) -> None:
    number, now, began, of_thread = 20, [0.0], list[float](), local()
    computes = 2.0 / turn.price(30, 1)
    """Seconds, so many that each stretch of computing takes two of the budget's if few are under way."""

    def thread_time() -> float:
        of_thread.time = getattr(of_thread, "time", 0.0) + computes
        return float(of_thread.time)

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(turn, "COMPUTE_BUDGET", RateLimit(rate=1.0, most=10.0, clock=lambda: now[0]))
    monkeypatch.setattr(turn, "visitor", lambda: Visitor("many tabs", ""))
    monkeypatch.setattr(turn, "number_present", lambda: 30)
    monkeypatch.setattr(turn.time, "thread_time", thread_time)
    monkeypatch.setattr(turn.time, "sleep", sleep)

    def answered() -> None:
        now[0] = 1000.0  # the budget is full again when the answers come

    all_wait = Barrier(number, action=answered)

    def script_run(_: int) -> None:
        with turn.in_turn():
            with turn.out_of_turn():
                all_wait.wait(timeout=240)
            began.append(now[0] - 1000.0)

    with ThreadPoolExecutor(number) as threads:  # raises where one that waits keeps the others from their answers
        list(threads.map(script_run, range(number)))
    # One takes two, and as many times that as there are pairs under way: 20, 19, 18 ... 3, 2, 2.
    spent = [max(2.0, float(number - index)) for index in range(number)]
    assert began == pytest.approx([max(0.0, sum(spent[:index]) - 10.0) for index in range(number)])


def order_of(names: Sequence[str], monkeypatch: Any, away: int = 0) -> list[str]:
    """The names of visitors whose script runs come one after another while another visitor's computes, in the order of their turns.
    ``away``: script runs of the first of them that wait for an answer meanwhile."""
    order, of_thread = list[str](), local()
    first_began, others_wait, answered = Event(), Event(), Event()
    monkeypatch.setattr(turn, "visitor", lambda: Visitor(of_thread.name, ""))
    all_away = Barrier(away + 1)

    def asking() -> None:
        of_thread.name = names[0]
        with turn.in_turn(), turn.out_of_turn():
            all_away.wait(240)
            assert answered.wait(240)

    def first() -> None:
        of_thread.name = "first"
        with turn.in_turn():
            first_began.set()
            assert others_wait.wait(240)

    def script_run(name: str) -> None:
        of_thread.name = name
        with turn.in_turn():
            order.append(name)

    with ThreadPoolExecutor(len(names) + away + 1) as threads:
        waiting = [threads.submit(asking) for _ in range(away)]
        all_away.wait(240)
        done = [threads.submit(first)]
        assert first_began.wait(240)
        for name in names:
            done.append(threads.submit(script_run, name))
            Event().wait(0.05)  # until it stands in its line
        others_wait.set()
        for each in done:
            each.result()
        answered.set()
        for each in waiting:
            each.result()
    return order


@pytest.mark.parametrize("tabs", [turn.SCRIPTS_WITHOUT_PENALTY, turn.SCRIPTS_WITHOUT_PENALTY + 2])
def test_who_has_several_tabs_at_work_has_one_turn_and_then_waits_for_the_others(tabs: int, monkeypatch: Any) -> None:
    order = order_of([*["several"] * tabs, "one", "another"], monkeypatch)
    assert order == ["several", "one", "another", *["several"] * (tabs - 1)]


def test_who_has_many_tabs_at_work_goes_behind_who_has_one(monkeypatch: Any) -> None:
    assert order_of(["many", "one"], monkeypatch, away=turn.SCRIPTS_WITHOUT_PENALTY) == ["one", "many"]
    assert order_of(["few", "one"], monkeypatch, away=turn.SCRIPTS_WITHOUT_PENALTY - 1) == ["few", "one"]


@pytest.mark.parametrize("visitors", [1, 2])
def test_who_waited_in_vain_goes_on_and_ends_no_turn_of_others(visitors: int, monkeypatch: Any) -> None:
    names = cycle(f"visitor {number}" for number in range(visitors))
    monkeypatch.setattr(turn, "visitor", lambda: Visitor(next(names), ""))
    with monkeypatch.context() as impatient:
        impatient.setattr(turn, "MAX_TURN_WAIT_SECONDS", 0.05)
        if visitors == 1:
            impatient.setattr(turn, "MAX_VISITOR_WAIT_SECONDS", 0.05)
        assert most_together([0.5, 0.5, 0.5, 0.01, 0.01]) > turn.SCRIPTS_AT_ONCE
    assert most_together([0.01] * 16) == turn.SCRIPTS_AT_ONCE


def test_who_lets_others_go_goes_on_after_them() -> None:
    order, first_began, others_wait = list[str](), Event(), Event()

    def first() -> None:
        with turn.in_turn():
            first_began.set()
            assert others_wait.wait(240)
            order.append("the board")
            turn.let_others_go()
            order.append("the rest")

    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(first)
        assert first_began.wait(240)
        Timer(0.1, others_wait.set).start()  # when this one stands in the line
        with turn.in_turn():
            order.append("another")
        done.result()
    assert order == ["the board", "another", "the rest"]
