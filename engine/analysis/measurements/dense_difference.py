"""The difference between the outputs of the blocks' MLPs on the same input."""

from __future__ import annotations

from itertools import combinations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.analysis.measurements.untrained import untrained
from engine.config.run_config import RunConfig
from engine.model.activations import ActivationCache
from engine.model.mode import in_mode
from engine.model.transformer import Transformer
from engine.training.data import Batch
from engine.training.evaluation import forward
from engine.training.trained import Trained

SEQUENCES = 32


def measure(trained: Trained) -> dict[str, float]:
    """``dense_difference``: 0 where all blocks' MLPs compute the same, about 1 where their outputs are unrelated; mean over
    pairs of depths. With ``init_`` in front: with the run's first weights. Empty for one block, or without MLPs.
    """
    config = trained.config
    if config.n_layers < 2 or not config.mlp:
        return {}
    batch = trained.data.validation_batch(size=SEQUENCES).to(trained.device)
    first = untrained(config).to(trained.device)
    assert isinstance(trained.model, Transformer)
    return {
        "dense_difference": dense_difference(trained.model, batch, config),
        "init_dense_difference": dense_difference(first, batch, config),
    }


@torch.no_grad()
def dense_difference(model: Transformer, batch: Batch, config: RunConfig) -> float:
    """The mean difference on the outputs of the run's own blocks, normalised to mean 0 and variance 1 as by LayerNorm."""
    cache: ActivationCache = {}
    with in_mode(model, training=False):
        forward(model, batch, cache)
    tokens = torch.cat([cache[f"{model.stack.name}.{layer}.out"].flatten(0, 1) for layer in range(config.n_layers)])
    tokens = F.layer_norm(tokens, tokens.shape[-1:]).unsqueeze(0)  # [1, layer * batch * length, d_model]
    blocks = model.stack.blocks
    answers = [_answer(blocks[layer % len(blocks)].mlp, tokens) for layer in range(config.n_layers)]
    differences = [relative_difference(a, b) for a, b in combinations(answers, 2)]
    return sum(differences) / len(differences)


def _answer(mlp: Tensor | nn.Module, tokens: Tensor) -> Tensor:
    assert isinstance(mlp, nn.Module)
    answer: Tensor = mlp(tokens)
    return answer.double()


def relative_difference(a: Tensor, b: Tensor) -> float:
    """``||a - b|| / sqrt(||a||^2 + ||b||^2)``: 0 for equal, 1 for orthogonal, sqrt 2 for opposite answers."""
    size = (a.square().sum() + b.square().sum()).sqrt()
    return float((a - b).norm() / size.clamp(min=1e-30))
