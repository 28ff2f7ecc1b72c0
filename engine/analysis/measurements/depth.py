from collections.abc import Mapping, Sequence
from itertools import combinations
from math import hypot
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import get_total_norm

from engine.config.run_config import RunConfig
from engine.estimate.layout import shapes
from engine.model.activations import OnlyThese, in_mode
from engine.model.build import build_model, parameter_part
from engine.model.transformer import Transformer
from engine.training.data import Batch, Data
from engine.training.evaluation import forward, loss_of
from engine.training.result import Trained

COLLAPSE_SEQUENCES, DENSE_SEQUENCES = 64, 32
TINY = 1e-30
# draws of initial weights whose median is a number before training: in a deep stack one draw in ten is a thousand times off, and
# would decide a mean
DRAWS = 8
SEED_DISTANCE = 1_000_000  # between the seeds of two draws, larger than any set of seeds


def draws(config: RunConfig) -> list[RunConfig]:
    # the first one is the run's own
    return [config.replace(seed=(config.seed + draw * SEED_DISTANCE) % 2**31) for draw in range(DRAWS)]


def medians(by_draw: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: median(numbers[name] for numbers in by_draw) for name in by_draw[0]}


def untrained(config: RunConfig) -> Transformer:
    """The untrained model of a config; its weights depend on the seed alone, so they can be drawn again at the end. Raises ValueError
    for a family that is no transformer."""
    model = build_model(config, **shapes(config).of_model)
    if not isinstance(model, Transformer):
        raise ValueError(f"family is {config.family}; this measurement is of a transformer's blocks.")
    return model


def block_outputs(model: nn.Module, batch: Batch, config: RunConfig) -> list[Tensor]:
    """[batch, length, d_model] each, of the stack that answers."""
    stack = "encoder" if config.family == "encoder" else "decoder"
    names = [f"{stack}.{layer}.out" for layer in range(config.n_layers)]
    cache = OnlyThese(names)
    with in_mode(model, training=False):
        forward(model, batch, cache)
    return [cache[name] for name in names]


def token_collapse(trained: Trained) -> dict[str, float]:
    """The similarity of the tokens of a sequence, block by block: ``token_cosine`` and ``token_residual`` after the last block,
    ``token_cosine.0`` .. after each block (counted from 0). ``init_`` before a name: with initial weights, the median over their
    draws.

    Without skip connections attention averages the tokens until all are equal: the output of a deep stack converges doubly
    exponentially to a matrix of rank one (Dong et al. 2021, Attention Is Not All You Need, theorem 2.2).
    """
    batch = trained.data.validation_batch(size=COLLAPSE_SEQUENCES).to(trained.device)
    first = [collapse_by_depth(untrained(draw).to(trained.device), batch, draw) for draw in draws(trained.config)]
    numbers = collapse_by_depth(trained.model, batch, trained.config)
    return numbers | {f"init_{name}": number for name, number in medians(first).items()}


@torch.no_grad()
def collapse_by_depth(model: nn.Module, batch: Batch, config: RunConfig) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for layer, tokens in enumerate(map(Tensor.double, block_outputs(model, batch, config))):
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


def dense_difference(trained: Trained) -> dict[str, float]:
    """``dense_difference``: 0 if all blocks' MLPs compute the same on the same input, about 1 if their outputs are unrelated; mean
    over pairs of depths. With ``init_`` in front: with the run's initial weights. Empty for one block, or without MLPs. Sharing as in
    Lan et al. 2020, ALBERT, section 3.1."""
    config = trained.config
    if config.n_layers < 2 or not config.mlp:
        return {}
    batch = trained.data.validation_batch(size=DENSE_SEQUENCES).to(trained.device)
    first = untrained(config).to(trained.device)
    assert isinstance(trained.model, Transformer)
    return {
        "dense_difference": mean_difference(trained.model, batch, config),
        "init_dense_difference": mean_difference(first, batch, config),
    }


@torch.no_grad()
def mean_difference(model: Transformer, batch: Batch, config: RunConfig) -> float:
    """The mean difference on the outputs of the run's blocks, normalised to mean 0 and variance 1 as by LayerNorm."""
    tokens = torch.cat([output.flatten(0, 1) for output in block_outputs(model, batch, config)])
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
    return float((a - b).norm() / size.clamp(min=TINY))


def first_gradients(trained: Trained) -> dict[str, float]:
    """The gradient before the first step, by part of the model: the effect of depth alone. L2 norms on the run's first batch, the
    median over draws of initial weights.

    ``first_grad.<layer>.q`` and so on as in ``grad.<part>``; ``first_grad.first.q`` and ``first_grad.last.q`` for the first and the
    last block, ``first_grad.first`` for a whole block, ``first_grad`` for the whole model. Queries and keys only decide which
    tokens are read. Once all tokens are equal the choice does not matter, and the gradient of queries and keys vanishes while that
    of the values does not (Noci et al. 2022, Signal Propagation in Transformers, section 3).
    """
    batch = Data(trained.config).training_batch().to(trained.device)
    return medians([norms_by_name(untrained(draw).to(trained.device), batch, draw) for draw in draws(trained.config)])


def norms_by_name(model: nn.Module, batch: Batch, config: RunConfig) -> dict[str, float]:
    by_part = gradients_by_part(model, batch)
    last = 0 if config.share_layers else config.n_layers - 1
    numbers = {"first_grad": hypot(*by_part.values())} | {f"first_grad.{part}": norm for part, norm in by_part.items()}
    for end, prefix in {"first": "0.", "last": f"{last}."}.items():
        block = {part.removeprefix(prefix): norm for part, norm in by_part.items() if part.startswith(prefix)}
        numbers |= {f"first_grad.{end}": hypot(*block.values())}
        numbers |= {f"first_grad.{end}.{part}": norm for part, norm in block.items()}
    return numbers


def gradients_by_part(model: nn.Module, batch: Batch) -> dict[str, float]:
    """L2 norm of the loss's gradient by part. The model is left in evaluation mode."""
    named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
    model.eval()
    loss = loss_of(forward(model, batch).float(), batch.targets)
    grads = torch.autograd.grad(loss, [parameter for _, parameter in named], allow_unused=True)
    parts: dict[str, list[Tensor]] = {}
    for (name, _), grad in zip(named, grads, strict=True):
        if grad is not None:
            parts.setdefault(parameter_part(name), []).append(grad.double())
    return {part: get_total_norm(of_part).item() for part, of_part in parts.items()}
