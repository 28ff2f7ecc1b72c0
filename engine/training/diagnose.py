"""Finding the first value that is not finite, by replaying the batch and recording its inner tensors."""

from __future__ import annotations

import torch
from torch import nn

from engine.model.activations import ActivationCache
from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of


def first_non_finite(model: nn.Module, batch: Batch) -> tuple[int | None, str]:
    """The first tensor, in the order of computation, that holds NaN or infinity: weights, activations, gradients."""
    for name, parameter in model.named_parameters():
        if not parameter.isfinite().all():
            return _layer_of(name), f"weight {name}"
    cache: ActivationCache = {}
    logits = forward(model, batch, cache)
    # Scores hold -inf at masked positions by design.
    values = {name: value for name, value in cache.items() if not name.endswith(".scores")}
    for name, value in values.items():
        if not value.isfinite().all():
            return _layer_of(name), name
    traced = {name: value for name, value in values.items() if value.requires_grad}
    loss = loss_of(logits.float(), batch.targets)
    if not loss.isfinite():
        return None, "loss"
    grads = torch.autograd.grad(loss, list(traced.values()), allow_unused=True)
    for name, grad in reversed(list(zip(traced, grads, strict=True))):
        if grad is not None and not grad.isfinite().all():
            return _layer_of(name), f"gradient of {name}"
    return None, "gradient of the weights"


def _layer_of(name: str) -> int | None:
    return next((int(part) for part in name.split(".") if part.isdigit()), None)
