import pytest

from engine.estimate.by_length import cache_bytes_at, flops_at, longest, memory_at
from engine.estimate.prediction import predict
from engine.experiments.sweeps.plan import read_plan


@pytest.mark.parametrize("power", [1.0, 1.7, 2.0])
@pytest.mark.parametrize("allowed", [0.5, 1.0, 999.0, 12345.6])
def test_the_longest_is_allowed_and_one_more_is_not(power: float, allowed: float) -> None:
    found = longest(lambda n: float(n**power), allowed)
    assert found**power <= allowed < (found + 1) ** power


def test_at_a_runs_own_length_it_is_the_runs_prediction_and_the_cache_grows_by_two_vectors() -> None:
    config = read_plan({"n_layers": 2}).config("fused", 64).replace(seq_len=200)
    predicted = predict(config)
    assert (memory_at(config, 200), flops_at(config, 200)) == (predicted.memory, predicted.flops_per_step)

    config = read_plan({"d_model": 48, "n_layers": 3, "batch_size": 2}).config("fused", 64)
    assert cache_bytes_at(config, 101) - cache_bytes_at(config, 100) == 2 * (2 * 3 * 48 * 4)
    assert 4 * cache_bytes_at(config.replace(kv_heads=1), 100) == cache_bytes_at(config, 100)
