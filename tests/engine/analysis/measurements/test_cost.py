from itertools import combinations
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cosine_similarity

from engine.analysis.measurements import MEASUREMENTS, cost, depth
from engine.analysis.measurements.cost import forward_times, machine, measure_at, next_token, random_batch, shortest
from engine.analysis.measurements.depth import dense_difference, mean_cosine, relative_residual
from engine.analysis.measurements.take import take_measurement
from engine.config.run_config import parse
from engine.estimate.by_length import cache_bytes_at, memory_at
from engine.estimate.layout import shapes
from engine.experiments.sweeps import KINDS
from engine.experiments.sweeps.plan import read_plan
from engine.model import masks
from engine.model.build import build_model
from engine.model.masks import causal_mask
from engine.runs.events import Progress
from engine.training.data import Data
from engine.training.result import Trained
from engine.training.train import train
from tests.engine.tiny import as_trained

CPU = torch.device("cpu")
PLAN = read_plan({"d_model": 8, "n_heads": 2, "n_layers": 2, "batch_size": 2})
SMALL = {"task": "k_back", "k": 1, "seq_len": 12, "d_model": 8, "n_heads": 2, "n_layers": 2, "batch_size": 4}


def trained(**settings: Any) -> Trained:
    return as_trained(**{**SMALL, **settings})


def test_every_measurement_of_the_registry_is_a_function_of_its_name() -> None:
    found = {name: resolve_name(row.implementation) for name, row in MEASUREMENTS.items()}
    assert {name: function.__name__ for name, function in found.items()} == {name: name for name in MEASUREMENTS}
    with pytest.raises(ValueError, match="measurements is zork; it must be one of position_probe, "):
        take_measurement("zork", trained())


def test_the_shortest_of_several_goes_counts() -> None:
    goes: list[int] = []

    def work() -> None:
        goes.append(1)
        nn.functional.relu(torch.randn(200_000 if len(goes) % 3 else 10))

    assert 0 < shortest(work, torch.device("cpu")) < 1
    assert len(goes) > 5


@pytest.mark.parametrize("dtype", ["float32", "bfloat16_mixed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_visit_measures_what_the_formulas_say(kind: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "MIN_REPETITIONS", 1)
    monkeypatch.setattr(cost, "MAX_REPETITIONS", 1)
    config = PLAN.config(kind, 64).replace(dtype=dtype)
    measurement = measure_at(config, 65, device="cpu", memory=True)
    predicted = memory_at(config, 65)
    assert (measurement.memory.parameters, measurement.memory.gradients) == (predicted.parameters, predicted.gradients)
    assert measurement.memory.optimizer == predicted.optimizer
    if predicted.saved is not None:
        assert (measurement.memory.saved, measurement.memory.scores) == (predicted.saved, predicted.scores)
    assert measurement.memory.peak > (measurement.memory.total or 0) - measurement.memory.gradients
    assert 0 < (measurement.inference_peak or 0) < measurement.memory.peak
    assert min(measurement.train, measurement.inference) > 0
    assert (measurement.cached is not None) == (kind != "cnn")
    if KINDS[kind].attends:
        assert measurement.cache_bytes == cache_bytes_at(config, 65)
        shared = config.replace(kv_heads=1)
        assert measure_at(shared, 65, device="cpu", memory=False).cache_bytes == cache_bytes_at(shared, 65)


def test_lengths_beyond_those_of_a_run_are_counted_to_the_byte_and_a_further_visit_takes_only_the_time() -> None:
    plan = read_plan({"d_model": 8, "n_heads": 1})
    config = plan.config("materialised", 64)
    measurement = measure_at(config, 1100, device="cpu", memory=True)
    assert measurement.memory.saved == memory_at(config, 1100).saved

    measurement = measure_at(PLAN.config("fused", 64), 64, device="cpu", memory=False)
    assert measurement.memory is measurement.inference_peak is None
    assert measurement.train > 0


@pytest.mark.parametrize(("kind", "vectors"), [("gru", 1), ("lstm", 2)])
def test_a_recurrent_net_keeps_its_state_whatever_the_length(kind: str, vectors: int) -> None:
    config = PLAN.config(kind, 64)
    sizes = shapes(config)
    model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=64)
    for length in (2, 50):
        step = next_token(model.eval(), random_batch(config, length).inputs)
        assert step() == vectors * 2 * 2 * config.d_model * 4  # layers x batch


def test_a_fused_triangle_makes_no_matrix_and_masks_are_forgotten() -> None:
    config = PLAN.config("fused", 64)
    measure_at(config, 96, device="cpu", memory=True)
    mask = causal_mask(96, "none", None, CPU, torch.float32)
    assert "bias" not in vars(mask)
    sizes = shapes(config)
    model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=96)
    model(random_batch(config, 96).inputs)
    assert "bias" not in vars(mask), "a fused kernel knows the triangle"
    assert mask.bias.shape == (96, 96)
    masks.forget_masks()
    assert causal_mask(96, "none", None, CPU, torch.float32) is not mask


def test_the_machine_is_named_and_an_accelerator_that_is_not_there_is_refused() -> None:
    found = machine("cpu")
    assert found.kind == "cpu"
    assert found.free > 0
    assert found.device
    if not torch.accelerator.is_available():
        with pytest.raises(ValueError, match="device is accelerator; this machine has only a CPU"):
            machine("accelerator")


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch without oneDNN")
def test_an_lstm_layer_is_one_call_for_a_whole_sequence_and_a_gru_many_for_each_token() -> None:
    """As the page Cost says of the two lines."""

    def calls(kind: str, length: int) -> tuple[int, int]:
        config, inputs = PLAN.config(kind, 64), torch.zeros(1, length, dtype=torch.long)
        sizes = shapes(config)
        model = build_model(config, n_tokens=sizes.n_tokens, n_outputs=sizes.n_outputs, max_positions=length)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            model(inputs)
        counts = {row.key: row.count for row in profile.key_averages()}
        return sum(counts.values()), counts.get("aten::mkldnn_rnn_layer", 0)

    (short, layers), (long, again) = calls("lstm", 16), calls("lstm", 80)
    assert layers == again == PLAN.n_layers
    assert long == short
    (short, none), (long, _) = calls("gru", 16), calls("gru", 80)
    assert none == 0
    assert long - short > 10 * 64 * PLAN.n_layers, "more than ten for each token and layer"


def test_the_time_of_a_pass_is_measured_beside_none() -> None:
    config = parse({"task": "own_position", "seq_len": 8, "d_model": 16, "batch_size": 2, "pos_encoding": "rope"})
    (found,) = forward_times([config])
    assert 0 < found["low"] <= found["ratio"] <= found["high"]
    assert found["seconds"] > 0


ONE_BACK = {"task": "k_back", "k": 1}
DEEP = {**ONE_BACK, "seq_len": 12, "d_model": 16, "n_heads": 2, "n_layers": 16}
DENSE = {**ONE_BACK, "d_model": 32, "n_heads": 2, "n_layers": 3}


def test_cosine_and_residual_of_equal_orthogonal_opposite_and_random_tokens() -> None:
    tokens = torch.randn(3, 1, 8, generator=torch.Generator().manual_seed(0)).expand(3, 5, 8).double()
    assert mean_cosine(tokens) == pytest.approx(1.0)
    assert relative_residual(tokens) == pytest.approx(0.0, abs=1e-12)

    assert mean_cosine(torch.eye(6).unsqueeze(0)) == pytest.approx(0.0, abs=1e-6)

    tokens = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(1))
    pairs = [cosine_similarity(tokens[0, i], tokens[0, j], dim=0).item() for i, j in combinations(range(5), 2)]
    assert mean_cosine(tokens) == pytest.approx(sum(pairs) / len(pairs), abs=1e-6)

    token = torch.tensor([1.0, 2.0, -1.0])
    tokens = torch.stack([token, -token]).unsqueeze(0)
    assert relative_residual(tokens) == pytest.approx(1.0)
    assert relative_residual(7 * tokens) == pytest.approx(1.0)


def test_a_deep_stack_without_skips_collapses_and_one_with_them_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depth, "DRAWS", 1)
    found = {skips: depth.token_collapse(as_trained(**DEEP, skips=skips)) for skips in (True, False)}
    assert found[False]["token_cosine"] > 0.99
    assert found[True]["token_cosine"] < 0.9
    assert found[False]["token_residual.0"] > 100 * found[False]["token_residual.15"] > 0
    assert found[True]["token_residual"] > 0.1
    assert found[True]["init_token_cosine"] == found[True]["token_cosine"], "this model has not been trained"


def test_shared_blocks_answer_alike_others_do_not_and_a_single_one_has_nothing_to_compare_with() -> None:
    a, b = torch.tensor([3.0, 0.0]), torch.tensor([0.0, 5.0])
    assert [depth.relative_difference(a, other) for other in (a, b, -a)] == pytest.approx([0.0, 1.0, 2**0.5])
    shared = dense_difference(as_trained(**DENSE, share_layers=True))
    assert shared == {"dense_difference": 0.0, "init_dense_difference": 0.0}
    assert dense_difference(as_trained(**DENSE))["dense_difference"] == pytest.approx(1.0, abs=0.1)
    for nothing in ({"n_layers": 1}, {"mlp": False}):
        assert dense_difference(as_trained(**{**DENSE, **nothing})) == {}


def test_first_gradients_are_those_of_the_first_step_and_leave_the_training_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(depth, "DRAWS", 1)
    case = as_trained(**ONE_BACK, seq_len=8, d_model=8, n_layers=3, steps=1)
    before, state = {name: p.clone() for name, p in case.model.named_parameters()}, case.data.generator.get_state()
    found = depth.first_gradients(case)
    assert all(p.equal(before[name]) and p.grad is None for name, p in case.model.named_parameters())
    assert case.data.generator.get_state().equal(state)
    first = next(event for event in train(case.config) if isinstance(event, Progress))
    assert found["first_grad"] == pytest.approx(first.grad_norm, rel=1e-3)
    for part, norm in first.grad_norms.items():
        assert found[f"first_grad.{part}"] == pytest.approx(norm, rel=1e-3), part
    assert found["first_grad.last.q"] == found["first_grad.2.q"]
    block = [norm**2 for part, norm in first.grad_norms.items() if part.startswith("0.")]
    assert found["first_grad.first"] == pytest.approx(sum(block) ** 0.5, rel=1e-3)


def test_numbers_before_training_are_medians_over_draws_of_first_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    case = as_trained(**ONE_BACK, seq_len=8, d_model=8, n_layers=3, steps=1, seed=7)
    configs = depth.draws(case.config)
    assert configs[0] == case.config
    assert len({config.seed for config in configs}) == depth.DRAWS == 8
    batch = Data(case.config).training_batch()
    norms = [depth.norms_by_name(depth.untrained(config), batch, config)["first_grad.first"] for config in configs]
    found = depth.first_gradients(case)["first_grad.first"]
    assert found == pytest.approx(np.median(norms))
    assert min(norms) < found < max(norms)

    monkeypatch.setattr(depth, "draws", lambda config: configs[:3])
    together, alone = depth.token_collapse(case), []
    for config in configs[:3]:
        monkeypatch.setattr(depth, "draws", lambda config, one=config: [one])
        alone.append(depth.token_collapse(case))
    for name in (f"init_token_{what}.{layer}" for what in ("cosine", "residual") for layer in range(3)):
        assert together[name] == pytest.approx(sorted(numbers[name] for numbers in alone)[1])


def test_one_draw_that_is_a_thousand_times_off_does_not_decide_a_median() -> None:
    assert depth.medians([{"a": 1.0}, {"a": 0.0}, {"a": 2000.0}]) == {"a": 1.0}
