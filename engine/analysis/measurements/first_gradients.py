"""The gradient before the first step, by part of the model: the effect of depth alone.

Queries and keys only decide which tokens are read. Once all tokens are alike the choice does not matter, and the gradient of
queries and keys vanishes while that of the values does not (Noci et al. 2022, Signal Propagation in Transformers, section 3).
"""

from __future__ import annotations

from math import hypot

import torch
from torch import Tensor, nn
from torch.nn.utils import get_total_norm

from engine.analysis.measurements.untrained import untrained
from engine.model.build import parameter_part
from engine.training.data import Batch, Data
from engine.training.evaluation import forward, loss_of
from engine.training.trained import Trained


def measure(trained: Trained) -> dict[str, float]:
    """``first_grad.<layer>.q`` and so on as in ``grad.<part>``; ``first_grad.first.q`` and ``first_grad.last.q`` for the
    first and the last block, ``first_grad.first`` for a whole block, ``first_grad`` for the whole model. L2 norms on the
    run's first training batch.
    """
    batch = Data(trained.config).training_batch().to(trained.device)
    by_part = gradients_by_part(untrained(trained.config).to(trained.device), batch)
    last = 0 if trained.config.share_layers else trained.config.n_layers - 1
    ends = {"first": "0.", "last": f"{last}."}
    numbers = {"first_grad": hypot(*by_part.values())} | {f"first_grad.{part}": norm for part, norm in by_part.items()}
    for end, prefix in ends.items():
        block = {part.removeprefix(prefix): norm for part, norm in by_part.items() if part.startswith(prefix)}
        numbers |= {f"first_grad.{end}": hypot(*block.values())}
        numbers |= {f"first_grad.{end}.{part}": norm for part, norm in block.items()}
    return numbers


def gradients_by_part(model: nn.Module, batch: Batch) -> dict[str, float]:
    """L2 norm of the loss's gradient by part. Pass a model of your own: its gradients are overwritten."""
    named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    model.eval()
    loss = loss_of(forward(model, batch).float(), batch.targets)
    grads = torch.autograd.grad(loss, [parameter for _, parameter in named], allow_unused=True)
    parts: dict[str, list[Tensor]] = {}
    for (name, _), grad in zip(named, grads, strict=True):
        if grad is not None:
            parts.setdefault(parameter_part(name), []).append(grad.double())
    return {part: get_total_norm(of_part).item() for part, of_part in parts.items()}
