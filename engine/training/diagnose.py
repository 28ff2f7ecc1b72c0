"""Finding the first value that is not finite, by replaying the batch and recording its inner tensors."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from engine.estimate.pieces import pieces
from engine.model.activations import ActivationCache
from engine.model.mode import in_mode
from engine.tasks.base.data import IGNORE
from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of

Found = tuple[int | None, str]
"""The layer, from 0, or None outside the layers; and the name of the tensor."""


def first_non_finite(model: nn.Module, batch: Batch) -> Found:
    """The first tensor, in the order of computation, that holds NaN or infinity: weights, activations, gradients."""
    if (weight := _first_weight(model)) is not None:
        return weight
    values, loss = _activations(model, batch)
    if (activation := _first_of(values)) is not None:
        return activation
    if not loss.isfinite():
        return None, "loss"
    traced = {name: value for name, value in values.items() if value.requires_grad}
    grads = torch.autograd.grad(loss, list(traced.values()), allow_unused=True)
    for name, grad in reversed(list(zip(traced, grads, strict=True))):
        if grad is not None and not grad.isfinite().all():
            return _layer_of(name), f"gradient of {name}"
    return None, "gradient of the weights"


def non_finite_at_end(model: nn.Module, held_out: Batch, loss: float, rows: int) -> Found | None:
    """The first tensor that holds NaN or infinity after the last step: a weight or, where the ``loss`` on the held-out sequences
    is not finite, an activation, looked for in ``rows`` of them at a time. None where there is none: a batch that asks for no
    answer has no loss."""
    weight = _first_weight(model)
    if weight is not None or math.isfinite(loss):
        return weight
    for piece in map(held_out.rows, pieces(len(held_out.inputs), rows)):
        with torch.no_grad(), in_mode(model, training=False):
            values, here = _activations(model, piece)
        if not here.isfinite() and (piece.targets != IGNORE).any():
            return _first_of(values) or (None, "loss")
    return None


def _activations(model: nn.Module, batch: Batch) -> tuple[ActivationCache, Tensor]:
    """The inner tensors of a pass and the loss. Scores are left out: they hold -inf at masked positions by design."""
    cache: ActivationCache = {}
    loss = loss_of(forward(model, batch, cache).float(), batch.targets)
    return {name: value for name, value in cache.items() if not name.endswith(".scores")}, loss


def _first_weight(model: nn.Module) -> Found | None:
    found = _first_of(dict(model.named_parameters()))
    return found and (found[0], f"weight {found[1]}")


def _first_of(values: ActivationCache) -> Found | None:
    return next(((_layer_of(name), name) for name, value in values.items() if not value.isfinite().all()), None)


def _layer_of(name: str) -> int | None:
    return next((int(part) for part in name.split(".") if part.isdigit()), None)
