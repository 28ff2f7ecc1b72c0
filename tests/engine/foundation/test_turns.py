"""Who waits for a turn has it in the order of coming, and nobody is forgotten."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

from engine.foundation.turns import Turns


def test_those_who_wait_have_their_turn_in_the_order_in_which_they_came() -> None:
    turns, order = Turns(1), list[int]()
    assert turns.take(0, "one")
    threads = []
    for place in range(5):
        waits = Event()

        def come(place: int = place, waits: Event = waits) -> None:
            waits.set()
            assert turns.take(30, f"person {place}")
            order.append(place)
            turns.end()

        threads.append(Thread(target=come))
        threads[-1].start()
        assert waits.wait(30)
        Event().wait(0.05)  # until it stands in the line
    turns.end()
    for thread in threads:
        thread.join(30)
    assert order == [0, 1, 2, 3, 4]
    assert turns.take(0, "one"), "all turns have ended"


def test_who_waits_several_times_is_called_in_turn_with_the_others() -> None:
    turns, order = Turns(1), list[str]()
    assert turns.take(0, "one")
    threads = []
    for name in ("ann 1", "ann 2", "ann 3", "bob 1", "cid 1", "bob 2"):

        def come(name: str = name) -> None:
            assert turns.take(30, name[:3])
            order.append(name)
            turns.end()

        threads.append(Thread(target=come))
        threads[-1].start()
        Event().wait(0.05)  # until it stands in its line
    turns.end()
    for thread in threads:
        thread.join(30)
    assert order == ["ann 1", "bob 1", "cid 1", "ann 2", "bob 2", "ann 3"]
    assert turns.take(0, "one"), "all turns have ended"


def test_who_stands_behind_waits_for_all_others_also_for_those_who_came_later() -> None:
    turns, order = Turns(1), list[str]()
    assert turns.take(0, "one")
    threads = []
    for name, behind in (("a, behind", True), ("b", False), ("c, behind", True), ("d", False)):

        def come(name: str = name, behind: bool = behind) -> None:
            assert turns.take(30, name, behind=behind)
            order.append(name)
            turns.end()

        threads.append(Thread(target=come))
        threads[-1].start()
        Event().wait(0.05)  # until it stands in its line
    turns.end()
    for thread in threads:
        thread.join(30)
    assert order == ["b", "d", "a, behind", "c, behind"]
    assert turns.take(0, "one"), "all turns have ended"


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
