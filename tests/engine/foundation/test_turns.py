"""Who waits for a turn has it in the order of coming, and nobody is forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

from engine.foundation.turns import Turns


def called(waiting: Iterable[tuple[str, str, bool]]) -> list[str]:
    """The names of those who wait, who came one after another, in the order in which they are called. Each has a name, the person
    whose turn it is, and whether it stands behind."""
    turns, order, threads = Turns(1), list[str](), list[Thread]()
    assert turns.take(0, "one")

    def come(name: str, whose: str, behind: bool) -> None:
        assert turns.take(30, whose, behind=behind)
        order.append(name)
        turns.end()

    for each in waiting:
        threads.append(Thread(target=come, args=each))
        threads[-1].start()
        Event().wait(0.05)  # until it stands in its line
    turns.end()
    for thread in threads:
        thread.join(30)
    assert turns.take(0, "one"), "all turns have ended"
    return order


def test_those_who_wait_have_their_turn_in_the_order_in_which_they_came() -> None:
    names = [str(place) for place in range(5)]
    assert called((name, f"person {name}", False) for name in names) == names


def test_who_waits_several_times_is_called_in_turn_with_the_others() -> None:
    names = ("ann 1", "ann 2", "ann 3", "bob 1", "cid 1", "bob 2")
    order = called((name, name[:3], False) for name in names)
    assert order == ["ann 1", "bob 1", "cid 1", "ann 2", "bob 2", "ann 3"]


def test_who_stands_behind_waits_for_all_others_also_for_those_who_came_later() -> None:
    waiting = (("a, behind", True), ("b", False), ("c, behind", True), ("d", False))
    order = called((name, name, behind) for name, behind in waiting)
    assert order == ["b", "d", "a, behind", "c, behind"]


def test_as_many_as_allowed_have_a_turn_and_the_next_one_gives_up_in_time() -> None:
    turns = Turns(2)
    assert turns.take(0, "one")
    assert turns.take(0, "one")
    assert not turns.take(0.01, "one")
    turns.end()
    assert turns.take(0, "one"), "who gave up does not hold a place"


def test_no_turn_is_lost_where_many_give_up_just_when_they_are_called() -> None:
    turns = Turns(1)

    def take_or_leave(_: int) -> None:
        for _ in range(200):
            if turns.take(0.0001, "one"):
                turns.end()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(take_or_leave, range(4)))
    assert turns.take(0, "one")
