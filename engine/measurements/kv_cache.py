"""What writing one more token costs a decoder after ``seq_len`` tokens, with and without keeping keys and values.

``kv_cache_bytes`` of one sequence, counted from the cache; ``kv_cache_bytes.formula`` = 2 x layers x tokens x heads x d_head
x bytes a number. ``cached_ms`` and ``recomputed_ms`` of the next token, each the shortest of several goes. Nothing for other
families.
"""

from __future__ import annotations

from copy import deepcopy

import torch

from engine.measurements.timing import shortest
from engine.measurements.trained import Trained
from engine.memory import BYTES
from engine.model.cached import Cache, next_logits
from engine.model.transformer import Transformer


def measure(trained: Trained) -> dict[str, float]:
    config = trained.config
    if config.family != "decoder" or not isinstance(trained.model, Transformer):
        return {}
    model = deepcopy(trained.model).eval()
    inputs = trained.data.validation_batch(size=1).inputs.to(trained.device)
    full, cache = Cache(), Cache()
    for token in torch.split(inputs, 1, dim=1):
        cache = Cache(full.length, dict(full.keys), dict(full.values))  # all but the last token
        next_logits(model, token, full)
    last = inputs[:, -1:]

    def cached() -> None:
        next_logits(model, last, Cache(cache.length, dict(cache.keys), dict(cache.values)))

    with torch.no_grad():
        recomputed_ms = 1e3 * shortest(lambda: model(inputs), trained.device)
    length, width = inputs.size(1), config.n_heads * config.head_width
    return {
        "kv_cache_bytes": full.bytes,
        "kv_cache_bytes.formula": 2 * config.n_layers * length * width * BYTES[config.dtype],
        "cached_ms": 1e3 * shortest(cached, trained.device),
        "recomputed_ms": recomputed_ms,
    }
