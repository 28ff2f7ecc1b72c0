"""Milliseconds of one training step and of one pass without gradient, on a batch of the run's own size.

``train_ms`` (forward, backward, optimizer) and ``inference_ms``, each the shortest of several repetitions. Measured on a copy,
so that the trained weights do not change.
"""

from __future__ import annotations

import math
from copy import deepcopy

import torch
from torch import nn

from engine.analysis.measurements.timing import shortest
from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of
from engine.training.optimizers import build_optimizers
from engine.training.trained import Trained


def measure(trained: Trained) -> dict[str, float]:
    batch = trained.data.validation_batch(size=trained.config.batch_size).to(trained.device)
    model = deepcopy(trained.model)
    optimizers = build_optimizers(trained.config, model)
    train, inference = step_seconds(model, optimizers, batch)
    return {"train_ms": 1e3 * train, "inference_ms": 1e3 * inference}


def step_seconds(
    model: nn.Module, optimizers: list[torch.optim.Optimizer], batch: Batch, patience: float = math.inf
) -> tuple[float, float]:
    """Seconds of a training step and of a pass without gradient. Trains ``model``, but leaves the random state."""
    device = batch.inputs.device

    def train_step() -> None:
        model.zero_grad()
        loss_of(forward(model, batch).float(), batch.targets).backward()  # type: ignore[no-untyped-call]
        for optimizer in optimizers:
            optimizer.step()

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        model.train()
        train = shortest(train_step, device, patience)
        model.eval()
        with torch.no_grad():
            inference = shortest(lambda: forward(model, batch), device, patience)
    return train, inference
