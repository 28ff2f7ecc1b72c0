"""The heads of a model: their entropy, distance and kind.

The score of a kind is the share of a head's weight on the cells of that kind, against chance. Chance is attention that is uniform
over the visible keys: (weight there - chance) / (1 - chance), so 0 is no more than uniform attention and 1 is all weight. Kinds as
in Voita et al. 2019, Analyzing Multi-Head Self-Attention, section 4, and Clark et al. 2019, What Does BERT Look At?, section 3; and
induction, the symbol after an earlier occurrence of the query's symbol, as in Olsson et al. 2022, In-context Learning and Induction
Heads. With softmax plus one, a head may also read *nowhere*: the gap of its rows to one.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from engine.analysis.attention.jobs import HeadNumbers, Heads, HeadView, Rollout
from engine.analysis.attention.model import (
    blocked_in,
    held_out,
    model_of,
    positions_at,
    run_with_cache,
    sample_of,
    tokens_at,
)
from engine.analysis.attention.parts import Part, heads_in
from engine.analysis.attention.requests import (
    MAX_ATTENTION_WEIGHTS,
    AttentionKind,
    ModelRequest,
    SampleRequest,
    attentions_of,
    tap_name,
    weights_of_one_sequence,
)
from engine.analysis.measurements.pointing import flow_through
from engine.config.run_config import RunConfig
from engine.model.activations import ActivationCache
from engine.training.data import Batch
from engine.training.snapshot import array, patterns_in

SEQUENCES = 64  # held-out sequences over which a head's numbers are averaged; fewer of long sequences
# the lowest score at which a head is named by its best kind: half of the way from chance to certainty
NAMING_SCORE = 0.5
FEWEST_QUERIES = 2  # with fewer queries at which it can show, a kind has no score
FURTHEST_BACK = 64
NONE = "none of these"


def heads(request: ModelRequest, sample: SampleRequest) -> Heads:
    config = request.config
    model, one = model_of(request), sample_of(config, sample)
    cache = run_with_cache(model, one)[1]
    room = MAX_ATTENTION_WEIGHTS // weights_of_one_sequence(config)
    batch = held_out(config).rows(slice(max(1, min(SEQUENCES, room))))
    first_view = run_with_cache(model, batch)[1]
    rows = [head_numbers(request, batch, first_view, part) for part in heads_in(config, config.n_layers)]
    return {
        "patterns": patterns_in(cache),
        "tokens": {which: tokens_at(config, one, which) for which in attentions_of(config)},
        "rows": rows,
        "sequences": len(batch.inputs),
        "named_from": NAMING_SCORE,
        "rollout": rolled_out(request, cache),
    }


def head_view(pattern: Tensor, config: RunConfig, metrics: dict[str, float]) -> HeadView:
    """``pattern`` [query, key] of one head; ``metrics`` of the whole model."""
    spread = entropy(shares_read(pattern.float(), config)).mean().item()
    return {"metrics": metrics, "pattern": array(pattern), "entropy": spread}


def head_numbers(request: ModelRequest, batch: Batch, cache: ActivationCache, part: Part) -> HeadNumbers:
    name = tap_name(request.config, part.which, part.layer)
    pattern = cache[f"{name}.pattern"][:, part.head].float()  # [batch, query, key]
    read = shares_read(pattern, request.config)
    visible = ~blocked_in(cache[f"{name}.scores"][:, part.head])
    scores = kind_scores(pattern, visible, {"self": batch.inputs, "encoder": batch.source}.get(part.which))
    if request.config.softmax_plus_one:
        scores["nowhere"] = 1 - pattern.sum(-1).mean().item()
    spread = entropy(read)  # [batch, query]
    queries = torch.tensor(positions_at(batch, part))
    keys = queries if part.which != "cross" else torch.arange(pattern.size(-1))
    return {
        "part": part,
        "entropy": spread.mean().item(),
        "effective_keys": spread.exp().mean().item(),
        "distance": mean_distance(read, queries, keys).mean().item(),
        "kind": name_of(scores),
        "scores": scores,
    }


def rolled_out(request: ModelRequest, cache: ActivationCache) -> dict[AttentionKind, Rollout]:
    """For each stack's self-attention the flow after every layer, [layer, query, token], and the mean over heads.

    Source: Abnar and Zuidema 2020, Quantifying Attention Flow in Transformers, section 3, equation 1.
    """
    flows: dict[AttentionKind, Rollout] = {}
    for which in attentions_of(request.config):
        if which == "cross":
            continue
        names = [f"{tap_name(request.config, which, layer)}.pattern" for layer in range(request.config.n_layers)]
        patterns = torch.stack([cache[name].float().mean(dim=1) for name in names])  # [layer, batch, query, key]
        flows[which] = {
            "flow": array(flow_through(patterns, skips=request.config.skips)[:, 0]),
            "mean": array(patterns[:, 0]),
        }
    return flows


# by label, the cells that a head of this kind attends to, of positions [query, 1] and [1, key] and the number of keys
KINDS: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {
    "previous token": lambda query, key, keys: key == query - 1,
    "same place": lambda query, key, keys: key == query,
    "next token": lambda query, key, keys: key == query + 1,
    # Not at queries for which the first token is also the same or the previous one.
    "first token": lambda query, key, keys: (key == 0) & (query >= 2),
    "mirrored": lambda query, key, keys: (key == keys - 1 - query) & ((key - query).abs() >= 2),
}


def kind_scores(pattern: Tensor, visible: Tensor, tokens: Tensor | None = None) -> dict[str, float]:
    """The score of each kind that can show, by label; from a head's pattern and visibility, both [batch, query, key].

    Kinds are those of ``KINDS``, the best fixed distance ("k back", from 2 on), ``induction`` if the ``tokens`` [batch, position]
    are those of queries and keys, and ``uniform``.
    """
    queries, keys = pattern.shape[-2:]
    query, key = torch.arange(queries)[:, None], torch.arange(keys)[None, :]
    n_visible = visible.sum(-1)  # [batch, query]
    scores = {label: score_in(pattern, visible, n_visible, cells(query, key, keys)) for label, cells in KINDS.items()}
    back = {
        f"{k} back": score
        for k in range(2, min(FURTHEST_BACK, queries))
        if (score := score_in(pattern, visible, n_visible, key == query - k)) is not None
    }
    if back:
        best = max(back, key=lambda label: back[label])
        scores[best] = back[best]
    if tokens is not None:
        follows = (tokens[:, :, None] == tokens[:, None, :].roll(1, dims=-1)) & (key > 0) & (key <= query)
        scores["induction"] = score_in(pattern, visible, n_visible, follows)
    scores["uniform"] = uniform_score(pattern, n_visible)
    return {label: score for label, score in scores.items() if score is not None}


def score_in(pattern: Tensor, visible: Tensor, n_visible: Tensor, cells: Tensor) -> float | None:
    """(mean weight in the cells - chance) / (1 - chance) over the queries that see such a cell and another key.

    None if there are too few such queries. ``cells``: [query, key], or [batch, query, key] if they depend on the tokens.
    """
    there = (visible & cells).sum(-1)  # [batch, query]
    able = (there > 0) & (there < n_visible)
    if able.any(0).sum() < FEWEST_QUERIES:
        return None
    weight = (pattern * cells).sum(-1)[able].mean().item()
    chance = (there / n_visible)[able].mean().item()
    return (weight - chance) / (1 - chance)


def uniform_score(pattern: Tensor, n_visible: Tensor) -> float | None:
    """The evenness of the weights: 1 if all visible keys have equal weight, 0 if the weights are as uneven as weights drawn
    uniformly from all that sum to one (mean entropy 1/2 + 1/3 + ... + 1/n nats), negative if more uneven."""
    able = n_visible > 1
    if able.any(0).sum() < FEWEST_QUERIES:
        return None
    harmonic = torch.cumsum(1 / torch.arange(1, int(n_visible.max()) + 1, dtype=torch.float64), 0)
    chance = (harmonic[n_visible[able] - 1] - 1).mean().item()
    most = n_visible[able].double().log().mean().item()
    return (entropy(pattern)[able].mean().item() - chance) / (most - chance)


def name_of(scores: dict[str, float]) -> str:
    best = max(scores, key=lambda label: scores[label], default=NONE)
    return best if scores.get(best, 0.0) >= NAMING_SCORE else NONE


def entropy(pattern: Tensor) -> Tensor:
    """The entropy of each query's weights in nats, [..., query, key] -> [..., query]. Its exponential is the effective number of keys."""
    surprise: Tensor = -torch.special.xlogy(pattern, pattern)
    return surprise.sum(-1)


def shares_read(pattern: Tensor, config: RunConfig) -> Tensor:
    """The weights as shares of what each query reads, [..., query, key] -> the same."""
    # only its rows sum to less than one
    if not config.softmax_plus_one:
        return pattern
    return pattern / pattern.sum(-1, keepdim=True).clamp_min(torch.finfo(pattern.dtype).tiny)


def mean_distance(pattern: Tensor, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """The weighted mean of |i - j| between a query and its keys, in positions: [..., query, key] -> [..., query]."""
    apart = (query_positions[:, None] - key_positions[None, :]).abs()
    return (pattern * apart).sum(-1)
