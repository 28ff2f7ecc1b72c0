"""Pointing: the share of answers for which an explanation's highest score falls on the true source.

An explanation scores each position read, [batch, key]: its importance for the answer at the last position.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, cast

import torch
from torch import Tensor, nn

from engine.analysis.attention.attribution import answering_layer
from engine.analysis.attention.model import run_with_cache
from engine.analysis.measurements.head_pruning import hooked
from engine.config.run_config import RunConfig
from engine.model.activations import ActivationCache, in_mode
from engine.model.attention import Pattern
from engine.model.precision import in_input_precision
from engine.model.transformer import Transformer
from engine.tasks.base.data import IGNORE, task_data
from engine.training.contributions import contributions_in
from engine.training.data import Batch
from engine.training.evaluation import forward
from engine.training.result import Trained
from engine.training.snapshot import residual_in

# a block and the arguments it is called with; the first are the tokens, [batch, length, d_model]
BlockCall: TypeAlias = tuple[nn.Module, tuple[Any, ...]]
SAMPLES = 256  # the sequences on which explanations are scored
PATHS = 128  # of these, the sequences whose path is traced, one by one
SEQUENCES_IN_A_PASS = 64
PERMUTATIONS = 16


def pointing(trained: Trained) -> dict[str, float]:
    """``pointing.<method>``: the share of held-out samples whose top source token is the true one.

    ``last``, ``average`` and ``rollout`` use attention (averaged over heads), and so does ``layer.0`` and so on, each layer alone;
    ``best_layer`` is the layer with the highest share on other samples, so that it is not the best by chance. ``path`` is the
    attention of :func:`answering_head_attention`; ``gradient_x_input``, ``gradient_norm`` and ``leave_one_out`` use the whole model.
    The last position, which asks, is no candidate. ``same_answer_permuted`` is that of :func:`same_answer_permuted` for the last layer, and
    ``same_answer_permuted_best`` for the best one. Raises ValueError if the task has no single true source, or the family no
    attention.
    """
    model, samples = trained.model, trained.data.validation_batch(size=2 * SAMPLES).to(trained.device)
    if not isinstance(model, Transformer):
        raise ValueError(f"family is {trained.config.family}; this measurement is of a transformer's attention.")
    halves = samples.rows(slice(SAMPLES)), samples.rows(slice(SAMPLES, None))
    (layer_batch, layer_true), (batch, true) = (with_last_answer(trained.config, half) for half in halves)
    with in_mode(model, training=False):
        best = best_layer(in_parts(layer_batch, partial(patterns_of, model), dim=1), layer_true)
        patterns = in_parts(batch, partial(patterns_of, model), dim=1)
        with torch.enable_grad():
            gradient_x_input, gradient_norm = in_parts(batch, partial(gradients, model), dim=1)
        falls = in_parts(batch, partial(leave_one_out, model))
        path_attention = in_parts(batch.rows(slice(PATHS)), partial(answering_head_attention, model))
        same_answer, same_best = (
            in_parts(batch, partial(same_answer_permuted, model, layer=layer)).mean().item() for layer in (-1, best)
        )
    scores = {
        "last": patterns[-1, :, -1],
        "average": patterns[:, :, -1].mean(dim=0),
        "rollout": flow_through(patterns, skips=trained.config.skips)[-1, :, -1],
        "best_layer": patterns[best, :, -1],
        **{f"layer.{layer}": pattern[:, -1] for layer, pattern in enumerate(patterns)},
        "gradient_x_input": gradient_x_input,
        "gradient_norm": gradient_norm,
        "leave_one_out": falls,
    }
    return {
        **{f"pointing.{method}": share_right(score, true) for method, score in scores.items()},
        "pointing.path": share_right(path_attention, true[:PATHS]),
        "pointing.same_answer_permuted": same_answer,
        "pointing.same_answer_permuted_best": same_best,
    }


def in_parts(batch: Batch, compute: Callable[[Batch], Tensor], dim: int = 0) -> Tensor:
    """The values of ``compute`` for all sequences of a batch, some at a time; ``dim``: their dimension of sequences."""
    firsts = range(0, len(batch.inputs), SEQUENCES_IN_A_PASS)
    return torch.cat([compute(batch.rows(slice(first, first + SEQUENCES_IN_A_PASS))) for first in firsts], dim)


def with_last_answer(config: RunConfig, batch: Batch) -> tuple[Batch, Tensor]:
    """The sequences of a batch whose last position has an answer, and the position of the answer to each, [batch]. Raises
    ValueError if the task has no single such position."""
    true_source = task_data(config.task).true_source
    if true_source is None:
        raise ValueError(f"task is {config.task}; it must be one with a known true source.")
    answered = batch.targets[:, -1] != IGNORE
    with_answer = batch.having({name: value[answered] for name, value in batch.tensors.items()})
    return with_answer, true_source(with_answer.inputs.cpu(), config.task_settings)


def share_right(score: Tensor, true: Tensor) -> float:
    """``score`` [batch, key] with the asking position last, ``true`` [batch]."""
    return (score[:, :-1].argmax(dim=-1).cpu() == true).float().mean().item()


def best_layer(patterns: Tensor, true: Tensor) -> int:
    """``patterns`` [layer, batch, query, key], ``true`` [batch]."""
    return max(range(len(patterns)), key=lambda layer: share_right(patterns[layer, :, -1], true))


@torch.no_grad()
def same_answer_permuted(model: Transformer, batch: Batch, layer: int = -1) -> Tensor:
    """The share of permutations, [batch], that keep the answer when the weights of a layer's attention, at the position that asks,
    are permuted at random over the positions, in all heads in the same way. By default it is the last layer.

    Source: Jain and Wallace 2019, Attention is not Explanation, section 4.2.1.
    """
    generator = torch.Generator().manual_seed(0)
    order = torch.arange(batch.inputs.size(1))
    calls = block_calls(model, batch)[layer:]

    def permute(module: Pattern, given: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, ...]:
        scores, pattern, _ = output
        permuted = pattern.clone()
        permuted[:, :, -1] = pattern[:, :, -1, order.to(pattern.device)]
        return scores, permuted, permuted

    whole = answers_after(model, calls)
    patterns = [module for module in model.modules() if isinstance(module, Pattern)]
    shares = []
    with patterns[layer].register_forward_hook(permute):
        for _ in range(PERMUTATIONS):
            order = torch.randperm(batch.inputs.size(1), generator=generator)
            shares.append((answers_after(model, calls) == whole).float())
    return torch.stack(shares).mean(dim=0)


def block_calls(model: Transformer, batch: Batch) -> list[BlockCall]:
    calls = list[BlockCall]()
    with hooked(model.stack.blocks, lambda block, given: calls.append((block, given))):
        forward(model, batch, {})  # with a cache attention is not fused, and a hook on its pattern is called
    return calls


@in_input_precision
def answers_after(model: Transformer, calls: Sequence[BlockCall]) -> Tensor:
    """The answers at the last position, [batch], computed by the last blocks of the stack only."""
    tokens = calls[0][1][0]
    for block, (_, *given) in calls:
        tokens = block(tokens, *given)
    return cast(Tensor, model.head(model.stack.norm(tokens))[:, -1].argmax(dim=-1))


def patterns_of(model: nn.Module, batch: Batch) -> Tensor:
    """The self-attention of every layer, averaged over heads: [layer, batch, query, key]."""
    return torch.stack([pattern.mean(dim=1) for pattern in self_patterns(run_with_cache(model, batch)[1])])


def self_patterns(cache: ActivationCache) -> list[Tensor]:
    """[batch, head, query, key] for each layer of a pass."""
    return [value for name, value in cache.items() if name.endswith(".self.pattern")]


@torch.no_grad()
def answering_head_attention(model: nn.Module, batch: Batch) -> Tensor:
    """The attention at the last position, [batch, key], of the head that brings the predicted answer.

    It is the head that adds most to the answer's logit, in the layer that brings the answer
    (:func:`engine.analysis.attention.attribution.answering_layer`)."""
    logits, cache = run_with_cache(model, batch)
    targets = torch.full_like(batch.targets, IGNORE)
    targets[:, -1] = logits[:, -1].argmax(dim=-1)
    patterns = [pattern[:, :, -1] for pattern in self_patterns(cache)]  # [batch, head, key]
    read = []
    for row, answered in enumerate(targets):
        sample = {name: value[row : row + 1] for name, value in cache.items()}
        parts = {name: values[..., -1].cpu() for name, values in contributions_in(sample, model, answered).items()}
        right, heads = residual_in(sample, model, answered)["right"][:, -1].cpu(), parts["self"]
        mlp = parts.get("mlp", torch.zeros(len(heads)))
        layer = answering_layer(right.numpy(), heads.numpy(), mlp.numpy())
        read.append(patterns[layer][row, int(heads[layer].argmax())])
    return torch.stack(read)


def flow_through(patterns: Tensor, *, skips: bool = True) -> Tensor:
    """Attention rollout: the share of each token in each position after every layer, [layer, batch, query, token].

    It is the product over layers of half attention, half identity, because the skip counts as much as attention; without ``skips``
    the product of attention alone. Source: Abnar and Zuidema 2020, Quantifying Attention Flow in Transformers, section 3, equation 1.
    """
    itself = torch.eye(patterns.size(-1), device=patterns.device)
    flow, flows = itself, []
    for pattern in patterns:  # [batch, query, key]
        flow = (0.5 * pattern + 0.5 * itself if skips else pattern) @ flow
        flows.append(flow)
    return torch.stack(flows)


def gradients(model: nn.Module, batch: Batch) -> Tensor:
    """Gradient times input, and the gradient's norm, of the predicted answer's logit with respect to the first block's input: [2,
    batch, key].

    Source: Shrikumar et al. 2016, Not Just a Black Box; Simonyan et al. 2014, Deep Inside Convolutional Networks.
    """
    cache: ActivationCache = {}
    chosen = forward(model, batch, cache)[:, -1].amax(dim=-1)  # [batch]
    read = cache["embedding"]  # [batch, key, d_model]
    (slope,) = torch.autograd.grad(chosen.sum(), read)
    return torch.stack([(slope * read.detach()).sum(dim=-1), slope.norm(dim=-1)])


@torch.no_grad()
def leave_one_out(model: nn.Module, batch: Batch) -> Tensor:
    """The fall of the predicted answer's log probability if no query may attend to a position, [batch, key].

    Source: Li et al. 2016, Understanding Neural Networks through Representation Erasure.
    """
    whole = forward(model, batch)[:, -1].log_softmax(dim=-1)
    chosen = whole.argmax(dim=-1, keepdim=True)
    falls = []
    for position in range(batch.inputs.size(1)):
        mask = torch.ones_like(batch.inputs, dtype=torch.bool) if batch.token_mask is None else batch.token_mask.clone()
        mask[:, position] = False
        without = forward(model, replace(batch, token_mask=mask))[:, -1].log_softmax(dim=-1)
        falls.append((whole - without).gather(1, chosen)[:, 0])
    return torch.stack(falls, dim=1)
