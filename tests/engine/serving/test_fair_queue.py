from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.serving import fair_queue as module
from engine.serving.fair_queue import CREDIT, FairQueue, Flow

names = st.sampled_from("abc")


def given_to(fair_queue: FairQueue, asking: list[Flow], turns: int, cost: float = 1.0) -> Counter[Flow]:
    got = Counter[Flow]()
    for _ in range(turns):
        turn = fair_queue.next(asking)
        fair_queue.spend(turn, cost)
        got[turn] += 1
    return got


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(names, names, names), min_size=1, unique=True))
def test_at_each_level_all_get_the_same(asking: list[Flow]) -> None:
    got = given_to(FairQueue(), asking, 27 * 8)
    for depth in range(3):
        inside = {flow[:depth] for flow in asking}
        for whole in inside:
            parts = Counter[Flow]()
            for flow, number in got.items():
                if flow[:depth] == whole:
                    parts[flow[: depth + 1]] += number
            assert max(parts.values()) - min(parts.values()) <= 1


def test_who_comes_later_or_again_has_nothing_to_make_up_for() -> None:
    fair_queue, first, second = FairQueue(), ("a", "x"), ("b", "y")
    given_to(fair_queue, [first], 100)
    assert given_to(fair_queue, [first, second], 20) == pytest.approx({first: 10, second: 10}, abs=1)
    given_to(fair_queue, [second], 100)
    assert given_to(fair_queue, [first, second], 20) == pytest.approx({first: 10, second: 10}, abs=1)


def test_who_has_just_come_goes_first_until_it_is_ahead() -> None:
    fair_queue, old, new = FairQueue(), ("a", "x"), ("b", "y")
    order = list[Flow]()
    for _ in range(40):
        order.append(fair_queue.next([old, new], [new]))
        fair_queue.spend(order[-1], CREDIT / 10, ahead=CREDIT if order[-1] == new else 0.0)
    assert order[:10] == [new] * 10
    assert order.count(old) == pytest.approx(15, abs=1)


def test_accounts_that_are_not_ahead_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """An account with a lead gets no more by the coming and going of others."""
    monkeypatch.setattr(module, "MAX_ACCOUNTS", 20)
    fair_queue, ahead, other = FairQueue(), ("a", "x"), ("b", "y")
    fair_queue.next([ahead, other])
    fair_queue.spend(ahead, 50.0)
    for number in range(50):
        given_to(fair_queue, [("c", f"cookie {number}")], 1, cost=0.1)
    assert given_to(fair_queue, [ahead, other], 10)[other] == 10
