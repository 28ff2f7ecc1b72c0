"""Who waits for a turn has it in the order of coming, and nobody is forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

from engine.foundation.visitor import Turns


def called(waiting: Iterable[tuple[str, bool]]) -> list[str]:
    """The names of those who wait, who came one after another, in the order in which they are called. Each has a name and whether
    it stands behind."""
    turns, order, threads = Turns(1), list[str](), list[Thread]()
    assert turns.take(0)

    def come(name: str, behind: bool) -> None:
        assert turns.take(30, behind=behind)
        order.append(name)
        turns.end()

    for each in waiting:
        threads.append(Thread(target=come, args=each))
        threads[-1].start()
        Event().wait(0.05)  # until it stands in its line
    turns.end()
    for thread in threads:
        thread.join(30)
    assert turns.take(0), "all turns have ended"
    return order


def test_those_who_wait_have_their_turn_in_the_order_in_which_they_came() -> None:
    names = [str(place) for place in range(5)]
    assert called((name, False) for name in names) == names


def test_who_stands_behind_waits_for_all_others_also_for_those_who_came_later() -> None:
    waiting = (("a, behind", True), ("b", False), ("c, behind", True), ("d", False))
    assert called(waiting) == ["b", "d", "a, behind", "c, behind"]


def test_as_many_as_allowed_have_a_turn_and_the_next_one_gives_up_in_time() -> None:
    turns = Turns(2)
    assert turns.take(0)
    assert turns.take(0)
    assert not turns.take(0.01)
    turns.end()
    assert turns.take(0), "who gave up does not hold a place"


def test_no_turn_is_lost_where_many_give_up_just_when_they_are_called() -> None:
    turns = Turns(1)

    def take_or_leave(_: int) -> None:
        for _ in range(200):
            if turns.take(0.0001):
                turns.end()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(take_or_leave, range(4)))
    assert turns.take(0)
