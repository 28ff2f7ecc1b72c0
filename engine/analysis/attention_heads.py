"""All heads of a model: entropy, distance, kind, and the metrics without the head."""

from __future__ import annotations

import numpy as np
import torch

from engine.analysis.attention_asked import (
    LARGEST,
    ModelAsked,
    Place,
    SampleAsked,
    Which,
    places_in,
    tap_name,
    weights_of_one_sequence,
)
from engine.analysis.attention_jobs import HeadNumbers, Heads, Rollout
from engine.analysis.attention_kinds import NAMED, entropy, kind_scores, mean_distance, name_of
from engine.analysis.attention_model import (
    blocked_in,
    held_out,
    model_of,
    positions_at,
    run_with_cache,
    sample_of,
    tokens_at,
)
from engine.analysis.measurements.explanations import flow_through
from engine.model.activations import ActivationCache
from engine.training.data import Batch
from engine.training.snapshot import array, patterns_in

SEQUENCES = 64
"""The number of held-out sequences over which a head's numbers are averaged; fewer of long sequences."""


def heads(asked: ModelAsked, sample: SampleAsked) -> Heads:
    """The heads of a model: their patterns for one sequence, and their numbers over held-out sequences."""
    config = asked.config
    model, one = model_of(asked), sample_of(config, sample)
    cache = run_with_cache(model, one)[1]
    batch = some_held_out(asked)
    batch_look = run_with_cache(model, batch)[1]
    rows = [
        head_numbers(asked, batch, batch_look, Place(which, layer, head))
        for which in places_in(config)
        for layer in range(config.n_layers)
        for head in range(config.n_heads)
    ]
    return {
        "patterns": patterns_in(cache),
        "tokens": {which: tokens_at(config, one, which) for which in places_in(config)},
        "rows": rows,
        "sequences": len(batch.inputs),
        "named_from": NAMED,
        "rollout": rolled_out(asked, cache),
    }


def patterns(asked: ModelAsked, sample: SampleAsked) -> dict[str, np.ndarray]:
    """The patterns of one sequence by kind of attention, [layer, head, query, key]."""
    return patterns_in(run_with_cache(model_of(asked), sample_of(asked.config, sample))[1])


def some_held_out(asked: ModelAsked) -> Batch:
    room = LARGEST // weights_of_one_sequence(asked.config)
    return held_out(asked.config).rows(slice(max(1, min(SEQUENCES, room))))


def head_numbers(asked: ModelAsked, batch: Batch, cache: ActivationCache, place: Place) -> HeadNumbers:
    name = tap_name(asked.config, place.which, place.layer)
    pattern = cache[f"{name}.pattern"][:, place.head].float()  # [batch, query, key]
    visible = ~blocked_in(cache[f"{name}.scores"][:, place.head])
    scores = kind_scores(pattern, visible)
    spread = entropy(pattern)  # [batch, query]
    queries = torch.tensor(positions_at(batch, place))
    keys = queries if place.which != "cross" else torch.arange(pattern.size(-1))
    return {
        "which": place.which,
        "layer": place.layer,
        "head": place.head,
        "entropy": spread.mean().item(),
        "effective_keys": spread.exp().mean().item(),
        "distance": mean_distance(pattern, queries, keys).mean().item(),
        "kind": name_of(scores),
        "scores": scores,
    }


def rolled_out(asked: ModelAsked, cache: ActivationCache) -> dict[Which, Rollout]:
    """For each stack's self-attention the flow after every layer, [layer, query, token], and the plain mean over heads.

    Source: Abnar and Zuidema 2020, Quantifying Attention Flow in Transformers, section 3, equation 1.
    """
    flows: dict[Which, Rollout] = {}
    for which in places_in(asked.config):
        if which == "cross":
            continue
        names = [f"{tap_name(asked.config, which, layer)}.pattern" for layer in range(asked.config.n_layers)]
        patterns = torch.stack([cache[name].float().mean(dim=1) for name in names])  # [layer, batch, query, key]
        flows[which] = {"flow": array(flow_through(patterns)[:, 0]), "mean": array(patterns[:, 0])}
    return flows
