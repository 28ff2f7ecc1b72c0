from typing import Any

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from engine.config.run_config import RunConfig, parse
from engine.estimate.prediction import predict
from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of
from engine.training.measured_memory import measure_memory, saved_for_backward
from engine.training.train import train
from tests.engine.tiny import as_trained


def ready(**settings: Any) -> tuple[RunConfig, nn.Module, Batch]:
    case = as_trained(**{"seq_len": 24, "n_layers": 2, "n_heads": 4, **settings})
    return case.config, case.model, case.data.training_batch()


def test_saved_tensors_of_a_small_network_by_hand_and_none_without_gradient() -> None:
    """Linear keeps its input, tanh its output, which the next Linear shares; earlier tensors do not count."""
    first, second, x = nn.Linear(8, 16), nn.Linear(16, 4), torch.randn(5, 8)
    network = nn.Sequential(first, nn.Tanh(), second)
    _, saved, _ = saved_for_backward(network, lambda: network(x).sum())
    assert saved.total == 4 * 5 * 16
    _, saved, _ = saved_for_backward(network, lambda: network(2 * x).sum())
    assert saved.total == 4 * (5 * 8 + 5 * 16)

    _, model, batch = ready()
    with torch.no_grad():
        _, saved, _ = saved_for_backward(model, lambda: forward(model, batch).sum())
    assert (saved.total, saved.scores) == (0, 0)


@pytest.mark.parametrize("settings", [{}, {"attention_impl": "materialised"}, {"pos_encoding": "alibi"}])
def test_peak_agrees_with_the_allocator(settings: dict[str, Any]) -> None:
    _, model, batch = ready(**settings)
    memory = measure_memory(model, batch, [])
    model.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        loss_of(forward(model, batch), batch.targets).backward()
    kineto = profiler.profiler.kineto_results.events()
    events = sorted((e.start_ns(), e.nbytes()) for e in kineto if e.name() == "[memory]")
    alive = torch.tensor([size for _, size in events]).cumsum(0)
    assert memory.peak - memory.parameters == pytest.approx(alive.max().item(), rel=0.01)
    assert memory.peak > memory.saved + memory.parameters


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_measuring_is_in_training_mode_and_changes_no_number_and_no_mode(dropout: float) -> None:
    _, model, batch = ready(dropout=dropout)
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    random_state = torch.get_rng_state()
    measure_memory(model, batch, [])
    assert torch.equal(torch.get_rng_state(), random_state)
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())

    config, model, batch = ready(dropout=dropout, task="k_back", attention_impl="materialised")
    assert measure_memory(model.eval(), batch, []).saved == predict(config).memory.saved
    assert not model.training


def test_a_length_without_a_row_does_not_change_the_memory_measured_at_the_end() -> None:
    """Evaluation ends with an error at such a length; the training step measured afterwards has dropout all the same."""
    same = {"task": "k_back", "k": 1, "seq_len": 6, "dropout": 0.1, "attention_impl": "materialised", "steps": 2}
    longer = parse({**same, "pos_encoding": "learned", "test_lengths": (8,)})
    *_, finished = train(longer)
    trained, beyond = finished.by_length
    assert "accuracy" in trained
    assert "accuracy" not in beyond
    assert "no row" in beyond["note"]
    assert finished.memory.saved == predict(longer).memory.saved
