"""Lengths beyond those of a run, and the longest sequence that fits."""

import pytest

from engine.estimate.by_length import cache_bytes_at, flops_at, longest, longest_in_time, longest_that_fits, memory_at
from engine.estimate.prediction import predict
from engine.estimate.speed import Speed
from engine.experiments.sweeps.plan import read_plan


@pytest.mark.parametrize("power", [1.0, 1.7, 2.0])
@pytest.mark.parametrize("allowed", [0.5, 1.0, 999.0, 12345.6])
def test_the_longest_is_allowed_and_one_more_is_not(power: float, allowed: float) -> None:
    found = longest(lambda n: float(n**power), allowed)
    assert found**power <= allowed < (found + 1) ** power


@pytest.mark.parametrize("kind", ["materialised", "fused"])
def test_the_longest_that_fits_uses_the_memory_up(kind: str) -> None:
    config, room = read_plan({"batch_size": 3}).config(kind, 64), 2**30
    found = longest_that_fits(config, room)
    assert (memory_at(config, found).total or 0) <= room < (memory_at(config, found + 1).total or 0)


def test_the_longest_in_time_is_limited_by_the_arithmetic_and_without_a_formula_there_is_none() -> None:
    config, speed = read_plan({}).config("fused", 64), Speed(overhead=1e-4, rate=1e10)
    found = longest_in_time(config, 1.0, speed)
    assert speed.seconds_on(config, flops_at(config, found), config.batch_size, found) <= 1.0
    assert speed.seconds_on(config, flops_at(config, found + 1), config.batch_size, found + 1) > 1.0

    config = read_plan({}).config("gru", 64)
    assert longest_that_fits(config, 2**30) is None
    assert longest_in_time(config, 1.0, Speed(1e-4, 1e10)) is None
    assert longest_in_time(read_plan({}).config("fused", 64), 1.0, None) is None


def test_at_a_runs_own_length_it_is_the_runs_prediction_and_the_cache_grows_by_two_vectors() -> None:
    config = read_plan({"n_layers": 2}).config("fused", 64).replace(seq_len=200)
    told = predict(config)
    assert (memory_at(config, 200), flops_at(config, 200)) == (told.memory, told.flops_per_step)

    config = read_plan({"d_model": 48, "n_layers": 3, "batch_size": 2}).config("fused", 64)
    assert cache_bytes_at(config, 101) - cache_bytes_at(config, 100) == 2 * (2 * 3 * 48 * 4)
