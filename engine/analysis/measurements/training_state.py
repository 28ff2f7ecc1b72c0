"""The training state of a model: the parameters of each part, and the bytes that stay between steps.

``parameters.<part>`` with part in embedding, encoding, attention, mlp, norm, weights (a baseline's layers), head, and
``parameters.blocks`` for all between embedding and head; ``share.<part>`` of all. ``weight_bytes``, ``gradient_bytes``,
``optimizer_bytes``: counted from the tensors after one step on a copy. ``numbers_per_parameter``: the three together over
the weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from copy import deepcopy

import torch
from torch import Tensor, nn

from engine.model.build import parameter_part
from engine.training.evaluation import forward, loss_of
from engine.training.optimizers import build_optimizers
from engine.training.trained import Trained

OWN = ("mlp", "norm", "weights")
"""Parts of a layer outside attention."""


def measure(trained: Trained) -> dict[str, float]:
    counts = count_by_part(trained.model)
    total = sum(counts.values())
    blocks = total - sum(counts[part] for part in ("embedding", "encoding", "head"))
    numbers = {f"parameters.{part}": float(count) for part, count in counts.items()} | {
        "parameters.blocks": float(blocks)
    }
    numbers |= {f"share.{part}": count / total for part, count in counts.items()}
    return numbers | _bytes_after_a_step(trained)


def count_by_part(model: nn.Module) -> Counter[str]:
    counts = Counter[str]()
    for name, parameter in model.named_parameters():
        layer, _, part = parameter_part(name).rpartition(".")
        kind = part if part in OWN or not layer else "attention"
        counts[kind] += parameter.numel()
    return counts


def _bytes_after_a_step(trained: Trained) -> dict[str, float]:
    model = deepcopy(trained.model)
    optimizers = build_optimizers(trained.config, model)
    batch = trained.data.validation_batch(size=2).to(trained.device)
    model.zero_grad()
    model.eval()
    loss_of(forward(model, batch).float(), batch.targets).backward()  # type: ignore[no-untyped-call]
    for optimizer in optimizers:
        optimizer.step()
    kept = [value for optimizer in optimizers for state in optimizer.state.values() for value in state.values()]
    weights = _bytes(model.parameters())
    gradients = _bytes(parameter.grad for parameter in model.parameters() if parameter.grad is not None)
    states = _bytes(value for value in kept if isinstance(value, Tensor))
    return {
        "weight_bytes": weights,
        "gradient_bytes": gradients,
        "optimizer_bytes": states,
        "numbers_per_parameter": (weights + gradients + states) / weights,
    }


def _bytes(tensors: Iterable[torch.Tensor]) -> float:
    return float(sum(tensor.numel() * tensor.element_size() for tensor in tensors))
