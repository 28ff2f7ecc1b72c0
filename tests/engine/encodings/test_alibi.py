"""ALiBi's slopes and biases against the published rule and x-transformers."""

from __future__ import annotations

import math

import pytest
import torch

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


def test_slopes_follow_the_published_rule() -> None:
    for heads in range(1, 65):
        assert slopes(heads) == pytest.approx(published_slopes(heads), rel=1e-12), heads
    assert slopes(3) == (2**-4, 2**-8, 2**-2)


@pytest.mark.parametrize("heads", [1, 3, 4, 6, 8])
def test_bias_agrees_with_x_transformers(heads: int) -> None:
    from x_transformers.x_transformers import AlibiPositionalBias

    encoding = tiny_encoding(Alibi, tiny_config(pos_encoding="alibi", n_heads=heads, d_head=4), max_positions=20)
    q = torch.zeros(1, heads, 20, 4)
    ours = encoding.score_bias(q, q, range(20), range(20))
    torch.testing.assert_close(ours[0], AlibiPositionalBias(heads)(20, 20))


def test_slope_scale_multiplies_and_the_picture_is_the_bias() -> None:
    config = tiny_config(pos_encoding="alibi", alibi_slope_scale=2.0)
    assert tiny_encoding(Alibi, config, max_positions=9).slopes == tuple(2 * slope for slope in slopes(4))

    matrices = tiny_encoding(Alibi, tiny_config(pos_encoding="alibi"), max_positions=9).matrices(5)
    assert matrices["matrix"].shape == (4, 5, 5)
    assert matrices["matrix"][1, 4, 0].item() == -4 * 2**-4
    torch.testing.assert_close(matrices["similarity"], matrices["matrix"].mean(0))
