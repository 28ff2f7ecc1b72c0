"""Shaw's relative vectors against a slow literal transcription of equations 3 to 5."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from engine.encodings.shaw.layer import Shaw
from engine.model.activations import ActivationCache
from tests.engine.tiny import tiny_config, tiny_encoding, tiny_model, tokens

BATCH, HEADS, LENGTH, WIDTH = 2, 4, 9, 4


def literal(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor | None, furthest: int) -> Tensor:
    """Equations 3 to 5, entry by entry; q, k, v [batch, head, length, d_head], as is the result."""
    z = torch.zeros_like(q)
    for b in range(BATCH):
        for h in range(HEADS):
            for i in range(LENGTH):
                rows = [max(-furthest, min(j - i, furthest)) + furthest for j in range(LENGTH)]
                e = [q[b, h, i] @ (k[b, h, j] + keys[rows[j]]) / math.sqrt(WIDTH) for j in range(LENGTH)]
                alpha = torch.stack(e).softmax(0)
                for j in range(LENGTH):
                    z[b, h, i] += alpha[j] * (v[b, h, j] + (0 if values is None else values[rows[j]]))
    return z


@pytest.mark.parametrize("furthest", [1, 3, 20])
@pytest.mark.parametrize("with_values", [True, False])
def test_agrees_with_the_equations(furthest: int, with_values: bool) -> None:
    config = tiny_config(pos_encoding="shaw", shaw_max_distance=furthest, shaw_values=with_values)
    encoding = tiny_encoding(Shaw, config, max_positions=LENGTH).double()
    q, k, v = torch.randn(3, BATCH, HEADS, LENGTH, WIDTH, dtype=torch.float64)
    scaled = q / math.sqrt(WIDTH)
    places = range(LENGTH)
    pattern = (scaled @ k.mT + encoding.score_bias(scaled, k, places, places)).softmax(-1)
    term = encoding.value_term(pattern, places, places)
    assert (term is None) == (not with_values)
    mixed = pattern @ v if term is None else pattern @ v + term
    values = encoding.relative_values if with_values else None
    torch.testing.assert_close(mixed, literal(q, k, v, encoding.relative_keys, values, furthest))


def test_the_whole_attention_layer_agrees_with_the_equations() -> None:
    model = tiny_model(pos_encoding="shaw", shaw_max_distance=3, family="encoder", task="k_back", n_layers=1)
    cache: ActivationCache = {}
    model(tokens(LENGTH, batch=BATCH), cache=cache)
    encoding, name = model.encoding, "encoder.0.self"
    mixed = literal(
        *(cache[f"{name}.{part}"] for part in "qkv"), encoding.relative_keys, encoding.relative_values, furthest=3
    )
    expected = model.stack.blocks[0].attention.out(mixed.transpose(1, 2).flatten(2))
    torch.testing.assert_close(cache[f"{name}.out"], expected)


def test_every_layer_owns_its_vectors_and_the_picture_compares_each_offset_with_none() -> None:
    model = tiny_model(pos_encoding="shaw", n_layers=3)
    assert len(model.stack.encodings) == 3
    assert len(tiny_model(pos_encoding="t5_bias", n_layers=3).stack.encodings) == 1

    encoding = tiny_encoding(Shaw, tiny_config(pos_encoding="shaw", shaw_max_distance=3), max_positions=LENGTH)
    matrices = encoding.matrices(LENGTH)
    assert matrices["matrix"].shape == (7, WIDTH)
    keys = encoding.relative_keys.detach()
    expected = torch.cosine_similarity(keys[3], keys[5], dim=0)  # offset 0 with offset 2
    torch.testing.assert_close(matrices["similarity"].diagonal(2), expected.expand(LENGTH - 2))
    torch.testing.assert_close(matrices["similarity"].diagonal(), torch.ones(LENGTH))
