"""The limits of a sweep: which of its points are started, and why the others are not."""

import re

import pytest

from engine.estimate.by_length import memory_at
from engine.experiments.sweeps.guard import SPARE, TRANSIENT, needed_bytes, needed_seconds, reason_not_to, refusal
from engine.experiments.sweeps.plan import Plan, read_plan
from engine.experiments.sweeps.result import Visit
from engine.experiments.sweeps.sweep import Sweep
from engine.foundation.errors import Refused
from engine.serving.limits import Limits
from engine.settings.costs import Memory
from tests.engine.experiments.sweeps.scripted_pool import ScriptedPool

GIB = 2**30
PLAN = read_plan({"patience": 0.5})
SLOW = Plan(patience=60.0, rounds=15)


def measured(tick: int, seconds: float, peak: int, kind: str = "fused") -> Visit:
    memory = Memory(1, 1, 1, 1, 0, peak=peak)
    return Visit(seconds, seconds, None, None, memory, 1, kind, tick, 0)


def test_a_point_starts_unless_it_takes_too_long_or_reaches_only_padding() -> None:
    for kind in PLAN.kinds:
        assert reason_not_to(PLAN, kind, 64, [], GIB) is None

    before = [measured(512, 0.1, 1000), measured(1024, 0.4, 2000)]
    why = reason_not_to(PLAN, "fused", 2048, before, GIB)
    assert why == "a step would take about 1.6 s; the longest allowed is 0.5 s"

    plan = read_plan({"axis": "depth", "deepest": 16, "seq_len": 64})
    assert reason_not_to(plan, "cnn", 4, [], GIB) is None
    why = reason_not_to(plan, "cnn", 8, [], GIB)
    assert why == "its last layer would reach only beyond the 64 tokens there are"


def test_from_one_point_the_time_grows_as_the_arithmetic_does() -> None:
    assert needed_seconds(PLAN, "gru", 128, [measured(64, 0.1, 1, "gru")]) == pytest.approx(0.2)
    assert 0.2 < needed_seconds(PLAN, "fused", 128, [measured(64, 0.1, 1)]) < 0.4
    assert needed_seconds(PLAN, "fused", 2**20, [measured(2**19, 0.1, 1)]) == pytest.approx(0.4, rel=0.01)


def test_memory_must_fit_with_room_to_spare() -> None:
    before = [measured(512, 0.001, 100 * 2**20), measured(1024, 0.002, 200 * 2**20)]
    assert needed_bytes(PLAN, "fused", 2048, before) == 400 * 2**20
    assert reason_not_to(PLAN, "fused", 2048, before, SPARE * 400 * 2**20) is None
    why = reason_not_to(PLAN, "fused", 2048, before, SPARE * 400 * 2**20 - 1)
    assert "it would need about 400 MiB" in why


def test_before_any_peak_the_formula_is_multiplied_and_never_undercut() -> None:
    predicted = memory_at(PLAN.config("materialised", 4096), 4096).total
    assert needed_bytes(PLAN, "materialised", 4096, []) == TRANSIENT * predicted
    assert needed_bytes(PLAN, "materialised", 4096, [measured(2048, 1.0, 10)]) == predicted
    assert needed_bytes(PLAN, "gru", 128, []) > 0


def test_a_long_plan_is_refused_with_a_value_that_fits_or_with_what_else_to_lower() -> None:
    limits = Limits(seconds=600.0)
    sentence = refusal(SLOW, limits)
    found = re.fullmatch(
        r"patience is 60 and rounds is 15: the measurement could take .+ and this host allows 10 min; "
        r"set patience to ([\d.]+) or less\.",
        sentence,
    )
    fits = float(found[1])
    assert refusal(SLOW.model_copy(update={"patience": fits}), limits) is None
    assert refusal(SLOW.model_copy(update={"patience": fits + 0.01}), limits) is not None

    assert str(refusal(SLOW, Limits(seconds=60.0))).endswith("choose fewer rounds or kinds.")

    pool = ScriptedPool()
    pool.limits = Limits(seconds=60.0)
    with pytest.raises(Refused, match="this host allows 60 s"):
        Sweep(SLOW, pool)  # type: ignore[arg-type]
    assert pool.request == []
