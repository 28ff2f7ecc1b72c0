"""Bytes and times against cases whose answer is known; the trained model is left as it was."""

from pkgutil import resolve_name
from typing import Any

import pytest
import torch
from torch import nn

from engine.analysis.measurements import MEASUREMENTS
from engine.analysis.measurements.cost import shortest
from engine.analysis.measurements.take import take_measurement
from engine.estimate.layout import shapes
from engine.estimate.memory import count_parameters
from engine.training.result import Trained
from tests.engine.tiny import as_trained

SMALL = {"task": "k_back", "k": 1, "seq_len": 12, "d_model": 8, "n_heads": 2, "n_layers": 2, "batch_size": 4}


def trained(**settings: Any) -> Trained:
    return as_trained(**{**SMALL, **settings})


def test_every_measurement_of_the_registry_is_a_function_of_its_name() -> None:
    found = {name: resolve_name(row.implementation) for name, row in MEASUREMENTS.items()}
    assert {name: function.__name__ for name, function in found.items()} == {name: name for name in MEASUREMENTS}
    with pytest.raises(ValueError, match="measurements is zork; allowed is one of position_probe, "):
        take_measurement("zork", trained())


@pytest.mark.parametrize("impl", ["fused", "materialised"])
def test_saved_bytes_are_the_formulas_and_scores_their_part(impl: str) -> None:
    numbers = take_measurement("saved_bytes", trained(attention_impl=impl))
    assert numbers["formula_agrees"] == 1
    assert numbers["saved_bytes"] == numbers["saved_bytes.formula"]
    assert numbers["score_bytes"] == (4 * 2 * 4 * 2 * 12 * 12 if impl == "materialised" else 0)


def test_doubling_the_batch_doubles_what_is_saved_also_without_a_formula() -> None:
    one, two = (take_measurement("saved_bytes", trained(family="cnn", batch_size=n)) for n in (4, 8))
    assert two["saved_bytes"] - 4 == 2 * (one["saved_bytes"] - 4)  # the number of answers is one number
    assert "formula_agrees" not in one


@pytest.mark.parametrize(
    "settings",
    [{}, {"optimizer": "sgd"}, {"pos_encoding": "shaw"}, {"family": "gru"}, {"family": "cnn"}, {"norm": "none"}],
)
def test_parts_are_those_of_the_formula_and_training_keeps_weights_gradients_and_the_optimizers_numbers(
    settings: dict[str, Any],
) -> None:
    case = trained(**settings)
    numbers = take_measurement("training_state", case)
    told = count_parameters(case.config, **shapes(case.config).of_model)
    for part in ("embedding", "encoding", "attention", "mlp"):
        assert numbers.get(f"parameters.{part}", 0) == told.get(part, 0), part
    assert sum(value for name, value in numbers.items() if name.startswith("share.")) == pytest.approx(1)
    assert numbers["parameters.blocks"] <= sum(told.values()) - told["embedding"] - 8 * 10

    sizes = [parameter.numel() for parameter in case.model.parameters()]
    assert numbers["weight_bytes"] == numbers["gradient_bytes"] == 4 * sum(sizes)
    kept = 0 if "optimizer" in settings else 2 * sum(sizes) + len(sizes)  # AdamW: two numbers, and a step count each
    assert numbers["optimizer_bytes"] == 4 * kept
    assert numbers["numbers_per_parameter"] == pytest.approx(2 + kept / sum(sizes))


@pytest.mark.parametrize("family", ["decoder", "encoder", "gru"])
def test_the_cache_is_counted_for_decoders_only(family: str) -> None:
    numbers = take_measurement("kv_cache", trained(family=family))
    if family != "decoder":
        assert numbers == {}
        return
    assert numbers["kv_cache_bytes"] == 2 * 2 * 12 * 8 * 4
    assert min(numbers["cached_ms"], numbers["recomputed_ms"]) > 0


def test_more_work_takes_longer_and_nothing_trained_is_touched() -> None:
    short, long = (trained(n_layers=n, d_model=64, seq_len=32, batch_size=16) for n in (1, 8))
    before = [parameter.clone() for parameter in short.model.parameters()]
    random = torch.get_rng_state()
    times = [take_measurement("step_time", case) for case in (short, long)]
    assert times[0]["train_ms"] < times[1]["train_ms"]
    assert times[0]["inference_ms"] < times[0]["train_ms"]
    assert all(torch.equal(a, b) for a, b in zip(before, short.model.parameters(), strict=True))
    assert torch.equal(random, torch.get_rng_state())


def test_the_shortest_of_several_goes_counts() -> None:
    goes: list[int] = []

    def work() -> None:
        goes.append(1)
        nn.functional.relu(torch.randn(200_000 if len(goes) % 3 else 10))

    assert 0 < shortest(work, torch.device("cpu")) < 1
    assert len(goes) > 5
