from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from engine.analysis.attention.ablation import ablated
from engine.analysis.attention.heads import head_view
from engine.analysis.attention.jobs import EachHeadOff, HeadComparison, HeadView
from engine.analysis.attention.model import (
    attention_at,
    blocked_in,
    encoding_at,
    held_out_metrics,
    model_of,
    pattern_at,
    positions_at,
    rebuild,
    run_with_cache,
    sample_of,
)
from engine.analysis.attention.parts import Part, heads_in
from engine.analysis.attention.requests import ModelRequest, SampleRequest, tap_name
from engine.config.run_config import RunConfig
from engine.model.attention import PREPARE, Pattern
from engine.model.transformer import Transformer

MAX_HEADS = 96  # heads that are switched off one after the other while a reader waits
SCORES = ("scaled_dot", "dot", "cosine", "additive")


def switch_heads_off(
    request: ModelRequest, sample: SampleRequest, part: Part, off: Iterable[Part], temperature: float
) -> HeadComparison:
    model, batch = model_of(request), sample_of(request.config, sample)

    def view_of(model: Transformer) -> HeadView:
        return head_view(
            pattern_at(model, batch, part), request.config, held_out_metrics(request.config, model, written_out=True)
        )

    changed = ablated(model, in_all_layers(request.config, off))
    with tempered(changed, temperature):
        return {"before": view_of(model), "after": view_of(changed)}


def each_head_off(request: ModelRequest) -> EachHeadOff:
    config, model = request.config, model_of(request)
    heads = heads_in(config, len(model.stack.blocks))
    rows = []
    for part in heads[:MAX_HEADS]:
        without = ablated(model, in_all_layers(config, [part]))
        rows.append({"part": part, **held_out_metrics(config, without)})
    return {"whole": held_out_metrics(config, model), "rows": rows, "left_out": len(heads) - len(rows)}


def in_all_layers(config: RunConfig, heads: Iterable[Part]) -> list[Part]:
    # a head whose weights are shared is a head of every layer
    if not config.share_layers:
        return list(heads)
    return [replace(head, layer=layer) for head in heads for layer in range(config.n_layers)]


@contextmanager
def tempered(model: nn.Module, temperature: float) -> Iterator[None]:
    """Make every softmax that of scores / temperature, inside the block: below 1 sharper, above 1 flatter. Needs unfused attention."""

    def cool(module: Pattern, given: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, ...]:
        scores, mask = output[0], given[3]
        pattern = module.weights(scores / temperature)
        if mask is not None and module.axis == -2:
            pattern = pattern.masked_fill(mask.blocked, 0.0)
        return scores, pattern, pattern

    with ExitStack() as hooks:
        for module in model.modules():
            if isinstance(module, Pattern) and temperature != 1.0:
                hooks.enter_context(module.register_forward_hook(cool))
        yield


def other_scores(request: ModelRequest, sample: SampleRequest, part: Part) -> dict[str, HeadView]:
    """Four scores of the same q and k of one head, each used in every layer of the whole model, without training for it."""
    config, model = request.config, model_of(request)
    cache = run_with_cache(model, sample_of(config, sample))[1]
    name, at = tap_name(config, part.which, part.layer), positions_at(sample_of(config, sample), part)
    encoding = encoding_at(model, part)
    with torch.no_grad():
        q, k = encoding.rotate(cache[f"{name}.q"], at), encoding.rotate_keys(cache[f"{name}.k"], at)
        blocked = blocked_in(cache[f"{name}.scores"])
        views: dict[str, HeadView] = {}
        for score in SCORES:
            changed = compared_by(request, score)
            ready = PREPARE[score](q, k)
            compared = attention_at(changed, part).pattern.scores(*ready)  # [1, head, query, key]
            bias = encoding.score_bias(*ready, at, at)
            full = (compared if bias is None else compared + bias).masked_fill(blocked, torch.finfo(q.dtype).min / 2)
            pattern = attention_at(model, part).pattern.weights(full).masked_fill(blocked, 0.0)[0, part.head]
            views[score] = head_view(pattern, config, held_out_metrics(config, changed))
    return views


def compared_by(request: ModelRequest, score: str) -> Transformer:
    if score == request.config.attention_score:
        return model_of(request)
    # Not model_of() with changes: that model is shared, and the weights are changed here.
    config = request.config.replace(attention_score=score, attention_impl="materialised")
    # a model not trained with an additive score, w . tanh(q + k), has no w: it is then all 1 / sqrt(d_head)
    changed = rebuild(model_of(replace(request, changes=())), config)
    for module in changed.modules():
        if isinstance(module, Pattern) and module.weight is not None:
            module.weight.data.fill_(module.weight.size(-1) ** -0.5)
    return changed
