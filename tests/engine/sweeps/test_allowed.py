"""The limits of a sweep."""

from __future__ import annotations

import re

import pytest

from engine.foundation.errors import Refused
from engine.hosting.limits import PROFILES, Limits
from engine.sweeps.allowed import refusal
from engine.sweeps.plan import Plan
from engine.sweeps.sweep import Sweep
from tests.engine.sweeps.scripted_pool import LAWS, ScriptedPool

SLOW = Plan(patience=60.0, rounds=15)


def test_the_default_plan_is_allowed_for_strangers_too() -> None:
    assert refusal(Plan(), Limits()) is None
    assert refusal(Plan(), Limits.model_validate(PROFILES["public"])) is None


def test_a_long_plan_is_refused_with_a_value_that_fits_or_with_what_else_to_lower() -> None:
    limits = Limits(seconds=600.0)
    sentence = refusal(SLOW, limits)
    assert sentence is not None
    found = re.fullmatch(
        r"patience is 60 and rounds is 15: the measurement could take .+ and this host allows 10 min; "
        r"set patience to ([\d.]+) or less\.",
        sentence,
    )
    assert found is not None, sentence
    fits = float(found[1])
    assert refusal(SLOW.model_copy(update={"patience": fits}), limits) is None
    assert refusal(SLOW.model_copy(update={"patience": fits + 0.01}), limits) is not None

    sentence = refusal(SLOW, Limits(seconds=60.0))
    assert sentence is not None
    assert sentence.endswith("choose fewer rounds or kinds.")

    pool = ScriptedPool()
    pool.limits = Limits(seconds=60.0)
    with pytest.raises(Refused, match="this host allows 60 s"):
        Sweep(SLOW, pool)  # type: ignore[arg-type]
    assert pool.asked == []


def test_what_a_sweep_may_take_bounds_what_it_takes() -> None:
    """With machines that follow laws: the steps at all places of a kind are at most three of the slowest."""
    for longest in (4096, 5000):
        places = Plan(longest=longest).places
        for law in LAWS.values():
            assert sum(law(place) for place in places) <= 3 * law(places[-1])
