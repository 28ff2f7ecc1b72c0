"""The cost of one more token of a decoder after ``seq_len`` tokens, with and without a key-value cache.

``kv_cache_bytes`` of one sequence, counted from the cache: 2 x layers x tokens x heads x d_head numbers. ``cached_ms`` and
``recomputed_ms`` of the next token, each the shortest of several repetitions. Empty for other families.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor

from engine.analysis.measurements.timing import shortest
from engine.model.cached import KeyValueCache, next_logits
from engine.model.transformer import Transformer
from engine.training.trained import Trained


def measure(trained: Trained) -> dict[str, float]:
    config = trained.config
    if config.family != "decoder" or not isinstance(trained.model, Transformer):
        return {}
    model = deepcopy(trained.model).eval()
    inputs = trained.data.validation_batch(size=1).inputs.to(trained.device)
    cached = cached_step(model, inputs)
    with torch.no_grad():
        recomputed_ms = 1e3 * shortest(lambda: model(inputs), trained.device)
    return {
        "kv_cache_bytes": cached().bytes,
        "cached_ms": 1e3 * shortest(cached, trained.device),
        "recomputed_ms": recomputed_ms,
    }


def cached_step(model: Transformer, inputs: Tensor) -> Callable[[], KeyValueCache]:
    """One more token after all but the last of ``inputs`` [batch, length], whose keys and values are cached; returns the cache."""
    config, past_shape = model.config, (inputs.size(0), model.config.n_heads, inputs.size(1) - 1)
    # The values in the cache do not affect its cost.
    past = torch.zeros(*past_shape, config.head_width, device=inputs.device, dtype=model.head.weight.dtype)

    def step() -> KeyValueCache:
        layers = range(config.n_layers)
        cache = KeyValueCache(past.size(2), dict.fromkeys(layers, past), dict.fromkeys(layers, past))
        next_logits(model, inputs[:, -1:], cache)
        return cache

    return step
