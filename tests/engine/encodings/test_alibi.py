"""ALiBi's slopes and biases against the published rule, x-transformers and transformers."""

from __future__ import annotations

import math

import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from x_transformers.x_transformers import AlibiPositionalBias

from engine.encodings.alibi.layer import Alibi, slopes
from tests.engine.tiny import tiny_config, tiny_encoding


def published_slopes(n: int) -> list[float]:
    """``get_slopes`` of the authors' code (attention_with_linear_biases, transformer.py), literally."""

    def power_of_2(n: int) -> list[float]:
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(n).is_integer():
        return power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return power_of_2(closest) + published_slopes(2 * closest)[0::2][: n - closest]


@pytest.mark.parametrize("heads", range(1, 65))
def test_slopes_follow_the_published_rule(heads: int) -> None:
    assert slopes(heads) == pytest.approx(published_slopes(heads), rel=1e-12)


def test_slopes_of_three_heads_by_hand() -> None:
    assert slopes(3) == (2**-4, 2**-8, 2**-2)


@pytest.mark.parametrize("heads", [1, 3, 4, 6, 8])
def test_bias_agrees_with_x_transformers(heads: int) -> None:
    encoding = tiny_encoding(Alibi, tiny_config(pos_encoding="alibi", n_heads=heads, d_head=4), max_positions=20)
    q = torch.zeros(1, heads, 20, 4)
    ours = encoding.score_bias(q, q, range(20), range(20))
    torch.testing.assert_close(ours[0], AlibiPositionalBias(heads)(20, 20))


@pytest.mark.parametrize("heads", [4, 6])
def test_bloom_adds_m_j_which_is_the_same_after_a_causal_softmax(heads: int) -> None:
    encoding = tiny_encoding(Alibi, tiny_config(pos_encoding="alibi", n_heads=heads, d_head=4), max_positions=12)
    q = torch.zeros(1, heads, 12, 4)
    ours = encoding.score_bias(q, q, range(12), range(12))[0]
    theirs = build_alibi_tensor(torch.ones(1, 12), heads, torch.float32).view(heads, 1, 12)
    future = torch.ones(12, 12, dtype=torch.bool).triu(1)
    patterns = [bias.masked_fill(future, -torch.inf).softmax(-1) for bias in (ours, theirs.expand(-1, 12, -1))]
    torch.testing.assert_close(*patterns)
    assert not torch.allclose(ours.softmax(-1), theirs.expand(-1, 12, -1).softmax(-1))


def test_slope_scale_multiplies() -> None:
    config = tiny_config(pos_encoding="alibi", alibi_slope_scale=2.0)
    assert tiny_encoding(Alibi, config, max_positions=9).slopes == tuple(2 * slope for slope in slopes(4))


def test_picture_is_the_bias() -> None:
    matrices = tiny_encoding(Alibi, tiny_config(pos_encoding="alibi"), max_positions=9).matrices(5)
    assert matrices["matrix"].shape == (4, 5, 5)
    assert matrices["matrix"][1, 4, 0].item() == -4 * 2**-4
    torch.testing.assert_close(matrices["similarity"], matrices["matrix"].mean(0))
