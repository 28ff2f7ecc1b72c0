import math

import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig

ADAM_BETAS = (0.9, 0.98)


def learning_rate_at(config: RunConfig, step: int) -> float:
    """The learning rate of a step counted from 1: linear warm-up, then the schedule down to zero at the end.

    Pre-training and the training after it have a schedule each.
    """
    pretraining = config.pretrain_steps
    step, steps = (step, pretraining) if step <= pretraining else (step - pretraining, config.steps - pretraining)
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    if config.schedule == "constant":
        return config.learning_rate
    done = (step - config.warmup_steps) / max(1, steps - config.warmup_steps + 1)
    factor = 1 - done if config.schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
    return config.learning_rate * factor


def build_optimizers(config: RunConfig, model: nn.Module) -> list[torch.optim.Optimizer]:
    """Optimizers, of which Muon takes the matrices of the blocks, AdamW the rest. Weight decay applies to all parameters but vectors.

    Muon: Jordan et al. 2024; AdamW: Loshchilov and Hutter 2019.
    """
    matrices, tables, vectors = [], [], []
    by_muon = config.optimizer == "muon"
    for name, parameter in model.named_parameters():
        is_table = "embedding" in name or "encoding" in name or "head" in name.split(".")[0]
        if parameter.ndim < 2:
            vectors.append(parameter)
        elif is_table or (by_muon and parameter.ndim > 2):  # Muon is defined for matrices only
            tables.append(parameter)
        else:
            matrices.append(parameter)
    rate, decay = config.learning_rate, config.weight_decay
    groups = [
        {"params": [*matrices, *tables] if not by_muon else tables, "weight_decay": decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    if config.optimizer == "sgd":
        return [torch.optim.SGD(groups, lr=rate)]
    # float16 squares underflow below 1e-8: a larger epsilon keeps the update finite.
    eps = 1e-8 if config.dtype != "float16" else 1e-4
    adamw = torch.optim.AdamW(groups, lr=rate, betas=ADAM_BETAS, eps=eps, fused=True) if groups else None
    muon = torch.optim.Muon(matrices, lr=rate, weight_decay=decay) if by_muon and matrices else None
    return [optimizer for optimizer in (adamw, muon) if optimizer is not None]


def set_learning_rate(optimizers: list[torch.optim.Optimizer], rate: float) -> None:
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            # a captured step reads its rate from a tensor on the device
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
