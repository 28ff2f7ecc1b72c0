"""Token by token with keys and values kept: the numbers of a pass over the whole sequence."""

from __future__ import annotations

import pytest
import torch

from engine.encodings import ENCODINGS
from engine.model.cached import KeyValueCache, cached_logits
from tests.engine.tiny import tiny_model, tokens


@pytest.mark.parametrize("score", ["scaled_dot", "cosine", "additive"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_writing_with_a_cache_gives_the_same_logits(name: str, score: str) -> None:
    model = tiny_model(pos_encoding=name, attention_score=score, attention_impl="materialised", norm="post").eval()
    read, cache = tokens(), KeyValueCache()
    written = torch.cat([cached_logits(model, token, cache) for token in read.split(1, dim=1)], dim=1)
    assert torch.allclose(written, model(read), atol=1e-10)


def test_a_shared_block_has_a_cache_at_every_depth() -> None:
    model = tiny_model(share_layers=True, n_layers=3, norm="pre").eval()
    read, cache = tokens(), KeyValueCache()
    written = torch.cat([cached_logits(model, token, cache) for token in read.split(1, dim=1)], dim=1)
    assert torch.allclose(written, model(read), atol=1e-10)
    assert cache.bytes == 2 * 3 * read.numel() * 16 * 8  # keys and values, layers, tokens, width, bytes of a double
