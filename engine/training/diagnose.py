"""Where a value first stopped being finite: the batch replayed with taps."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of


def first_non_finite(model: nn.Module, batch: Batch) -> tuple[int | None, str]:
    """The first tensor, in the order of computation, that holds NaN or infinity: weights, activations, gradients."""
    for name, parameter in model.named_parameters():
        if not parameter.isfinite().all():
            return _layer_of(name), f"weight {name}"
    look: dict[str, Tensor] = {}
    logits = forward(model, batch, look)
    # Scores hold -inf at masked places by design.
    taps = {name: value for name, value in look.items() if not name.endswith(".scores")}
    for name, value in taps.items():
        if not value.isfinite().all():
            return _layer_of(name), name
    traced = {name: value for name, value in taps.items() if value.requires_grad}
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
