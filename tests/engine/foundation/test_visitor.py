from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest

from engine.foundation.visitor import PROGRAM, RateLimit, Turns, Visitor


def test_a_visitor_steers_its_own_and_the_program_steers_all() -> None:
    anna = Visitor("anna", "10.0.0.1")
    assert [anna.may_steer(owner) for owner in ("anna", "ben", "")] == [True, False, False]
    assert [PROGRAM.may_steer(owner) for owner in ("anna", "")] == [True, True]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_full_budget_is_spent_at_once_and_then_as_fast_as_it_fills() -> None:
    clock = Clock()
    limit = RateLimit(rate=4.0, most=8.0, clock=clock)
    assert [limit.spend("a", 1.0) for _ in range(8)] == [0.0] * 8
    assert [limit.spend("a", 1.0) for _ in range(3)] == pytest.approx([0.25, 0.5, 0.75])
    clock.now += 0.75
    assert limit.wait("a") == pytest.approx(0.0)
    clock.now += 100
    assert [limit.spend("a", 1.0) for _ in range(9)] == pytest.approx([0.0] * 8 + [0.25]), "it is never more than full"


def test_visitors_have_budgets_of_their_own_and_over_a_long_time_no_more_than_the_rate() -> None:
    clock = Clock()
    limit = RateLimit(rate=1.0, most=1.0, clock=clock)
    limit.spend("a", 5.0)
    assert (limit.wait("a"), limit.wait("b"), limit.spend("b", 1.0)) == (pytest.approx(4.0), 0.0, 0.0)

    clock = Clock()
    limit = RateLimit(rate=0.25, most=5.0, clock=clock)
    spent = 0.0
    while clock.now < 1100.0:
        if limit.wait("a") == 0:
            limit.spend("a", 0.4)
            spent += 0.4
        clock.now += 0.4
    assert spent == pytest.approx(1000 * 0.25 + 5, rel=0.02)


def test_those_who_wait_are_called_as_they_came_and_who_stands_behind_after_all_others() -> None:
    turns, order, threads = Turns(1), list[str](), list[Thread]()
    assert turns.take(0)

    def come(name: str) -> None:
        assert turns.take(30, behind="behind" in name)
        order.append(name)
        turns.end()

    for name in ("a, behind", "b", "c, behind", "d", "e"):
        threads.append(Thread(target=come, args=[name]))
        threads[-1].start()
        Event().wait(0.05)  # until it stands in its line
    turns.end()
    for thread in threads:
        thread.join(30)
    assert turns.take(0), "all turns have ended"
    assert order == ["b", "d", "e", "a, behind", "c, behind"]


def test_as_many_as_allowed_have_a_turn_and_the_next_one_gives_up_in_time() -> None:
    turns = Turns(2)
    assert [turns.take(seconds) for seconds in (0, 0, 0.01)] == [True, True, False]
    turns.end()
    assert turns.take(0), "who gave up does not hold a place"


def test_who_is_called_just_when_it_gives_up_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    class CalledJustThen(Event):
        """A signal that is set between the end of the wait and the check."""

        def wait(self, timeout: float | None = None) -> bool:
            turns.end()
            return False

    monkeypatch.setattr("engine.foundation.visitor.Signal", CalledJustThen)
    turns = Turns(1)
    assert turns.take(0)
    assert turns.take(0), "the one before has ended"
    turns.end()
    assert turns.take(0), "and it holds its place only once"


def test_no_turn_is_lost_where_many_give_up_just_when_they_are_called() -> None:
    turns = Turns(1)

    def take_or_leave(_: int) -> None:
        for _ in range(200):
            if turns.take(0.0001):
                turns.end()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(take_or_leave, range(4)))
    assert turns.take(0)
