"""First gradients against what training reports of its first step."""

from __future__ import annotations

import pytest
import torch

from engine.analysis.measurements.first_gradients import measure
from engine.analysis.measurements.untrained import untrained
from engine.config.run_config import parse
from engine.runs.events import Progress
from engine.training.data import Data
from engine.training.train import train
from engine.training.trained import Trained

CONFIG = parse({"task": "k_back", "k": 1, "seq_len": 8, "d_model": 8, "n_layers": 3, "steps": 1, "device": "cpu"})


def test_they_are_the_gradients_of_the_first_step_and_leave_the_training_as_it_was() -> None:
    model, data = untrained(CONFIG), Data(CONFIG)
    before, state = {name: p.clone() for name, p in model.named_parameters()}, data.generator.get_state()
    found = measure(Trained(CONFIG, model, data, torch.device("cpu")))
    assert all(p.equal(before[name]) and p.grad is None for name, p in model.named_parameters())
    assert data.generator.get_state().equal(state)
    first = next(event for event in train(CONFIG) if isinstance(event, Progress))
    assert found["first_grad"] == pytest.approx(first.grad_norm, rel=1e-3)
    assert first.grad_norms is not None
    for part, norm in first.grad_norms.items():
        assert found[f"first_grad.{part}"] == pytest.approx(norm, rel=1e-3), part
    assert found["first_grad.last.q"] == found["first_grad.2.q"]
    block = [norm**2 for part, norm in first.grad_norms.items() if part.startswith("0.")]
    assert found["first_grad.first"] == pytest.approx(sum(block) ** 0.5, rel=1e-3)
