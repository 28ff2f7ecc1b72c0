"""Spreading: softmax attention at lengths beyond the trained one. The scores of a trained head are in a fixed range, so the more
positions there are, the less weight remains for any one of them (Veličković et al. 2024, softmax is not enough, section 2)."""

import math
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn

from engine.analysis.attention.model import run_with_cache
from engine.analysis.measurements.head_pruning import hooked
from engine.analysis.measurements.pointing import self_patterns, with_last_answer
from engine.estimate.layout import TESTED
from engine.model.activations import in_mode
from engine.model.attention import Pattern
from engine.training.data import Batch
from engine.training.evaluation import accuracies, forward
from engine.training.result import Trained


@torch.no_grad()
def answer_weight(trained: Trained) -> dict[str, float]:
    """``answer_weight@9`` and so on, at the trained length and each test length: the mean attention weight that the last position
    gives the true source of its answer, in the head that gives it most at the trained length.

    ``sharpened_accuracy@9`` and so on: the first accuracy of the task with all scores multiplied by log(n) / log(m), where n is the
    number of positions and m that at the trained length. Source: Chiang and Cholak 2022, Overcoming a Theoretical Limitation of
    Self-Attention. Raises ValueError if the task has no single true source.
    """
    model, usual = trained.model, trained.config.seq_len
    lengths = dict.fromkeys([usual, *trained.config.test_lengths])
    batches = {n: trained.data.validation_batch(n, TESTED).to(trained.device) for n in lengths}
    read = batches[usual].inputs.size(1)
    numbers: dict[str, float] = {}
    with in_mode(model, training=False):
        weights = {n: weights_on_source(trained, batch) for n, batch in batches.items()}
        head = int(weights[usual].argmax())
        for n, batch in batches.items():
            with scores_times(model, math.log(batch.inputs.size(1)) / math.log(read)):
                right = accuracies(forward(model, batch, {}).argmax(-1), batch)  # with a cache attention is not fused
            numbers |= {f"answer_weight@{n}": weights[n].flatten()[head].item()}
            numbers |= {f"sharpened_accuracy@{n}": next(iter(right.values()))}
    return numbers


def weights_on_source(trained: Trained, batch: Batch) -> Tensor:
    """The mean weight that the last position gives its true source, [layer, head]."""
    batch, true = with_last_answer(trained.config, batch)
    at_end = [
        pattern[:, :, -1] for pattern in self_patterns(run_with_cache(trained.model, batch)[1])
    ]  # [batch, head, key]
    there = true.to(batch.inputs.device)[:, None, None]
    return torch.stack([weight.gather(2, there.expand(-1, weight.size(1), 1))[..., 0].mean(dim=0) for weight in at_end])


def scores_times(model: nn.Module, factor: float) -> AbstractContextManager[None]:
    """Multiply all attention scores that are written out, before their bias, by ``factor``, inside the block."""

    def sharper(module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        q, *others = given
        return (q * factor, *others)

    return hooked((part for part in model.modules() if isinstance(part, Pattern)), sharper)
