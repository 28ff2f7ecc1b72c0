"""Head pruning: the accuracy with half of the heads removed, by gradient importance and in random order.

Source: Michel et al. 2019, Are Sixteen Heads Really Better than One?, section 4.1, equation 2.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.model.activations import in_mode
from engine.model.attention import Attention
from engine.tasks.base.data import IGNORE
from engine.training.data import Batch
from engine.training.evaluation import accuracies, forward
from engine.training.result import Trained

SAMPLES = 512  # held-out: half to compute importance, half to measure accuracy
RANDOM_ORDERS = 4


def head_pruning(trained: Trained) -> dict[str, float]:
    """``heads.half_accuracy``: the accuracy with half of the heads removed, the least important ones;
    ``heads.random_half_accuracy``: with as many removed at random, the mean of four orders."""
    model = trained.model
    batch = trained.data.validation_batch(size=SAMPLES).to(trained.device)
    judged, counted = batch.rows(slice(SAMPLES // 2)), batch.rows(slice(SAMPLES // 2, None))
    with in_mode(model, training=False):
        scores = importance(model, judged).flatten()  # [layer * head]
        half, generator = len(scores) // 2, torch.Generator().manual_seed(0)
        orders = [torch.randperm(len(scores), generator=generator).tolist() for _ in range(RANDOM_ORDERS)]
        return {
            "heads.half_accuracy": accuracy_without(model, counted, scores.argsort().tolist()[:half]),
            "heads.random_half_accuracy": fmean(accuracy_without(model, counted, order[:half]) for order in orders),
        }


def importance(model: nn.Module, batch: Batch) -> Tensor:
    """Mean over samples of |d loss / d gate| for a gate of 1 on each head, [layer, head]; each layer's norm is 1."""
    mixed: list[Tensor] = []

    def keep(module: nn.Module, given: tuple[Tensor, ...]) -> None:
        mixed.append(given[0])  # [batch, query, head * d_head]

    with hooked([attention.out for attention in attentions(model)], keep), torch.enable_grad():
        logits = forward(model, batch).float()
        # [batch, length, class] -> [batch * length, class]
        loss = F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE, reduction="sum")
        slopes = torch.autograd.grad(loss, mixed)
    rows = []
    for attention, value, slope in zip(attentions(model), mixed, slopes, strict=True):
        heads = (value * slope).view(*value.shape[:2], attention.n_heads, -1)  # [batch, query, head, d_head]
        gate = heads.sum(dim=(1, 3)).abs().mean(dim=0).detach()  # [head]
        rows.append(gate / gate.norm().clamp_min(1e-12))
    return torch.stack(rows)


@torch.no_grad()
def accuracy_without(model: nn.Module, batch: Batch, heads: Sequence[int]) -> float:
    n_layers, n_heads = len(attentions(model)), attentions(model)[0].n_heads
    gates = torch.ones(n_layers * n_heads, device=batch.inputs.device)
    gates[list(heads)] = 0.0
    with gated(model, gates.view(n_layers, n_heads)):
        right = accuracies(forward(model, batch).argmax(-1), batch)
    return next(iter(right.values()))


def gated(model: nn.Module, gates: Tensor) -> AbstractContextManager[None]:
    """Multiply each head's output by its gate, [layer, head], inside the block; rows as in ``attentions(model)``."""

    def gate(module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        row = gates[layer_of[module]]
        return (given[0] * row.repeat_interleave(given[0].size(-1) // len(row)),)

    layer_of: dict[nn.Module, int] = {one.out: layer for layer, one in enumerate(attentions(model))}
    return hooked(layer_of, gate)


@contextmanager
def hooked(modules: Iterable[nn.Module], hook: Callable[[nn.Module, tuple[Tensor, ...]], object]) -> Iterator[None]:
    with ExitStack() as hooks:
        for module in modules:
            hooks.enter_context(module.register_forward_pre_hook(hook))
        yield


def attentions(model: nn.Module) -> list[Attention]:
    return [module for module in model.stack.modules() if isinstance(module, Attention)]  # type: ignore[union-attr]
