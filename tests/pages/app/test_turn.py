"""Script runs without a pause wait where others are there, and nobody waits alone."""

from __future__ import annotations

from typing import Any

import pytest

from engine.foundation.visitor import Visitor
from pages.parts.app import turn


@pytest.mark.parametrize(("others", "waits"), [(True, True), (False, False)])
def test_who_asks_without_a_pause_waits_for_others(monkeypatch: Any, others: bool, waits: bool) -> None:
    slept: list[float] = []
    monkeypatch.setattr(turn, "visitor", lambda: Visitor(f"flood {others}", ""))
    monkeypatch.setattr(turn, "others_here", lambda _: others)
    monkeypatch.setattr(turn.time, "sleep", slept.append)
    for _ in range(100):
        turn.wait_for_turn()
    assert (max(slept, default=0.0) > 5.0) == waits
    assert max(slept, default=0.0) <= turn.LONGEST
    assert not any(slept[:10])
