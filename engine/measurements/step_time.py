"""Milliseconds of one training step and of one pass without gradient, on a batch of the run's own size.

``train_ms`` (forward, backward, optimizer) and ``inference_ms``, each the shortest of several goes. Taken on a copy, so
that the trained weights stay.
"""

from __future__ import annotations

from copy import deepcopy

import torch

from engine.measurements.timing import shortest
from engine.measurements.trained import Trained
from engine.training.evaluate import forward, loss_of
from engine.training.optim import build_optimizers


def measure(trained: Trained) -> dict[str, float]:
    config, device = trained.config, trained.device
    model = deepcopy(trained.model)
    optimizers = build_optimizers(config, model)
    batch = trained.data.validation_batch(size=config.batch_size).to(device)

    def train_step() -> None:
        model.zero_grad()
        loss_of(forward(model, batch).float(), batch.targets).backward()  # type: ignore[no-untyped-call]
        for optimizer in optimizers:
            optimizer.step()

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        model.train()
        train = shortest(train_step, device)
        model.eval()
        with torch.no_grad():
            inference = shortest(lambda: forward(model, batch), device)
    return {"train_ms": 1e3 * train, "inference_ms": 1e3 * inference}
