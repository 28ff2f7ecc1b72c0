from typing import Any, cast

import pytest

from engine.experiments.sweeps import KINDS
from engine.experiments.sweeps.plan import read_plan
from engine.experiments.sweeps.sweep import Sweep
from engine.serving.pool import Pool
from tests.engine.experiments.sweeps.scripted_pool import LAWS, ScriptedPool

PLAN = read_plan({"longest": 8192, "patience": 0.4, "rounds": 3})


def finish_sweep(pool: ScriptedPool, **settings: Any) -> Sweep:
    sweep = Sweep(read_plan({**PLAN.model_dump(), **settings}), cast(Pool, pool)).start()
    assert sweep.wait(240)
    return sweep


@pytest.fixture(scope="module")
def finished() -> tuple[Sweep, ScriptedPool]:
    pool = ScriptedPool()
    return finish_sweep(pool), pool


def test_every_kind_goes_as_far_as_it_may(finished: tuple[Sweep, ScriptedPool]) -> None:
    result = finished[0].result
    assert result.state == "finished"
    reached = {kind: result.summaries(kind, "train")[-1].tick for kind in KINDS}
    expected = {kind: max(p for p in PLAN.ticks if LAWS[kind](p) <= PLAN.patience) for kind in KINDS}
    assert reached == expected
    assert {skip.kind for skip in result.skips} == {kind for kind, tick in expected.items() if tick < 8192}
    for skip in result.skips:
        assert skip.tick == 2 * reached[skip.kind]
        assert skip.why.startswith("A step would take about ")


def test_short_points_come_first_and_then_all_in_another_order(finished: tuple[Sweep, ScriptedPool]) -> None:
    request = finished[1].request
    rounds = [[(kind, tick) for kind, tick, at in request if at == number] for number in range(3)]
    assert [tick for _, tick in rounds[0]] == sorted(tick for _, tick in rounds[0])
    assert sorted(rounds[0]) == sorted(rounds[1]) == sorted(rounds[2])
    assert len({tuple(one) for one in rounds}) == 3
    assert all(finished[1].alone)


def test_each_visit_is_kept_and_the_memory_is_counted_once(finished: tuple[Sweep, ScriptedPool]) -> None:
    result = finished[0].result
    level = result.summaries("cnn", "train")[0]
    assert (level.value / level.low, level.high / level.low, level.visits) == pytest.approx((1.1, 1.2, 3))
    assert result.summaries("cnn", "cached") == []
    assert {visit.round for kind in KINDS for visit in result.counted_visits(kind)} == {0}
    assert [visit.saved for visit in result.counted_visits("lstm")] == [
        100 * visit.tick for visit in result.counted_visits("lstm")
    ]


def test_a_stop_keeps_what_there_is_and_until_then_the_time_left_counts_down() -> None:
    pool = ScriptedPool()
    sweep = Sweep(PLAN, cast(Pool, pool))
    pool.on_visit = lambda count: sweep.stop() if count == 7 else None
    sweep.start()
    assert sweep.wait(240)
    assert (sweep.state, len(sweep.result.visits), sweep.share_done) == ("stopped", 7, 1.0)

    pool, seconds = ScriptedPool(), list[float]()
    sweep = Sweep(PLAN, cast(Pool, pool))
    pool.on_visit = lambda count: seconds.append(sweep.seconds_left)
    sweep.start()
    assert sweep.wait(240)
    assert sweep.seconds_left == 0
    half = seconds[len(seconds) // 2 :]
    assert half == sorted(half, reverse=True)


def test_a_point_that_ends_its_worker_ends_only_its_kind() -> None:
    sweep = finish_sweep(ScriptedPool(fails=("gru", 256)))
    assert sweep.state == "finished"
    (skip,) = (skip for skip in sweep.result.skips if skip.kind == "gru")
    assert (skip.tick, skip.why) == (256, "Its worker used 9 GiB of memory and was ended.")
    assert sweep.result.summaries("gru", "train")[-1].tick == 128
    assert sweep.result.summaries("cnn", "train")[-1].tick == 8192


def test_the_host_limits_what_a_step_may_take() -> None:
    pool = ScriptedPool()
    pool.limits = pool.limits.model_copy(update={"memory": 2 * 200 * 512})
    result = finish_sweep(pool, kinds="cnn").result
    assert result.summaries("cnn", "train") == []
    assert result.skips[0].why.endswith("must fit in 200 KiB.")
