"""The similarity of the tokens of a sequence, block by block, before and after training.

Without skip connections attention averages the tokens until all are equal: the output of a deep stack converges doubly
exponentially to a matrix of rank one (Dong et al. 2021, Attention Is Not All You Need, theorem 2.2).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.analysis.measurements.untrained import untrained
from engine.config.run_config import RunConfig
from engine.model.activations import ActivationCache
from engine.model.mode import in_mode
from engine.training.data import Batch
from engine.training.evaluation import forward
from engine.training.trained import Trained

SEQUENCES = 64
TINY = 1e-30


def measure(trained: Trained) -> dict[str, float]:
    """``token_cosine`` and ``token_residual`` after the last block, ``token_cosine.0`` .. after each block (counted from 0).

    ``init_`` before a name: with the first weights of the same run.
    """
    batch = trained.data.validation_batch(size=SEQUENCES).to(trained.device)
    first = collapse_by_depth(untrained(trained.config).to(trained.device), batch, trained.config)
    return collapse_by_depth(trained.model, batch, trained.config) | {f"init_{name}": x for name, x in first.items()}


@torch.no_grad()
def collapse_by_depth(model: nn.Module, batch: Batch, config: RunConfig) -> dict[str, float]:
    cache: ActivationCache = {}
    with in_mode(model, training=False):
        forward(model, batch, cache)
    stack = "encoder" if config.family == "encoder" else "decoder"
    numbers: dict[str, float] = {}
    for layer in range(config.n_layers):
        tokens = cache[f"{stack}.{layer}.out"].double()
        numbers |= {f"token_cosine.{layer}": mean_cosine(tokens), f"token_residual.{layer}": relative_residual(tokens)}
    last = config.n_layers - 1
    return numbers | {name: numbers[f"{name}.{last}"] for name in ("token_cosine", "token_residual")}


def mean_cosine(tokens: Tensor) -> float:
    """Mean cosine of two different tokens of one sequence; tokens [batch, length, d_model], length at least 2."""
    unit = F.normalize(tokens, dim=-1, eps=TINY)
    length = tokens.size(1)
    total = unit.sum(dim=1).square().sum(dim=-1)  # [batch]: all pairs, each token with itself among them
    itself = unit.square().sum(dim=(1, 2))  # [batch]
    return ((total - itself) / (length * (length - 1))).mean().item()


def relative_residual(tokens: Tensor) -> float:
    """The share of the tokens that remains without their common part, 0 to about 1, mean over sequences.

    ``||X - 1 x^T|| / ||X||`` with x the mean token and the norm ``sqrt(||.||_1 ||.||_inf)`` (Dong et al. 2021, section 2).
    """
    rest = tokens - tokens.mean(dim=1, keepdim=True)
    return (_norm(rest) / _norm(tokens).clamp(min=TINY)).mean().item()


def _norm(matrices: Tensor) -> Tensor:
    """Geometric mean of the largest column sum and the largest row sum; [batch, row, column] -> [batch]."""
    sizes = matrices.abs()
    return (sizes.sum(dim=1).amax(dim=-1) * sizes.sum(dim=2).amax(dim=-1)).sqrt()
