"""The pace of a visitor: free up to a budget, then as fast as the budget fills."""

from __future__ import annotations

import pytest

from engine.foundation.visitor import Pace


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_full_budget_is_spent_at_once_and_then_as_fast_as_it_fills() -> None:
    clock = Clock()
    pace = Pace(rate=4.0, most=8.0, clock=clock)
    assert [pace.spend("a", 1.0) for _ in range(8)] == [0.0] * 8
    assert [pace.spend("a", 1.0) for _ in range(3)] == pytest.approx([0.25, 0.5, 0.75])
    clock.now += 0.75
    assert pace.wait("a") == pytest.approx(0.0)
    clock.now += 100
    assert [pace.spend("a", 1.0) for _ in range(9)] == pytest.approx([0.0] * 8 + [0.25]), "it is never more than full"


def test_visitors_have_budgets_of_their_own_and_over_a_long_time_no_more_than_the_rate() -> None:
    clock = Clock()
    pace = Pace(rate=1.0, most=1.0, clock=clock)
    pace.spend("a", 5.0)
    assert pace.wait("a") == pytest.approx(4.0)
    assert pace.wait("b") == 0.0
    assert pace.spend("b", 1.0) == 0.0

    clock = Clock()
    pace = Pace(rate=0.25, most=5.0, clock=clock)
    spent = 0.0
    while clock.now < 1100.0:
        if pace.wait("a") == 0:
            pace.spend("a", 0.4)
            spent += 0.4
        clock.now += 0.4
    assert spent == pytest.approx(1000 * 0.25 + 5, rel=0.02)
