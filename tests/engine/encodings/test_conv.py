"""The depthwise convolution against loops over its equation; what it reads, and what it leaves out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.encodings.conv.layer import Convolution
from tests.engine.tiny import tiny_config, tiny_encoding

LENGTH = 7


def literal(encoding: Convolution, x: Tensor, after: int) -> Tensor:
    """x_i + b + sum_t w_t x_(i+t), dimension by dimension; zero beyond the ends."""
    added = torch.zeros_like(x)
    for i in range(LENGTH):
        added[:, i] = encoding.mix.bias
        for tap, t in enumerate(range(-encoding.mix.before, after + 1)):
            if 0 <= i + t < LENGTH:
                added[:, i] += encoding.mix.kernel[:, tap] * x[:, i + t]
    return x + added


@pytest.mark.parametrize("reach", [1, 2, 9])
@pytest.mark.parametrize("causal", [True, False])
def test_agrees_with_the_equation(causal: bool, reach: int) -> None:
    encoding = tiny_encoding(
        Convolution, tiny_config(pos_encoding="conv", conv_reach=reach), max_positions=9, causal=causal
    ).double()
    x = torch.randn(2, LENGTH, 16, dtype=torch.float64)
    torch.testing.assert_close(
        encoding.add_to_embedding(x, range(LENGTH)), literal(encoding, x, 0 if causal else reach)
    )


def test_padding_is_read_as_zeros() -> None:
    encoding = tiny_encoding(Convolution, tiny_config(pos_encoding="conv"), max_positions=9, causal=False)
    x, real = torch.randn(1, LENGTH, 16), torch.arange(LENGTH)[None] < 4
    padded = encoding.add_to_embedding(x, range(LENGTH), real)
    torch.testing.assert_close(padded[:, :4], encoding.add_to_embedding(x[:, :4], range(4)))


def test_the_picture_tells_the_ends_apart_neighbours_alike_and_is_that_of_random_tokens() -> None:
    matrices = tiny_encoding(Convolution, tiny_config(pos_encoding="conv", conv_reach=2), max_positions=9).matrices(
        LENGTH
    )
    rows, similarity = matrices["matrix"], matrices["similarity"]
    torch.testing.assert_close(rows[3], rows[6])
    assert not torch.allclose(rows[0], rows[3])
    assert (similarity.diagonal(3) == 0).all()  # a causal reach of 2: three apart read nothing in common
    assert (similarity.diagonal(1) != 0).all()

    encoding = tiny_encoding(Convolution, tiny_config(pos_encoding="conv", d_model=64), max_positions=9)
    added = encoding.mix(torch.randn(4000, LENGTH, 64)) - encoding.mix.bias
    gram = torch.einsum("bic,bjc->ij", added, added)
    norms = gram.diagonal().sqrt()
    torch.testing.assert_close(
        encoding.matrices(LENGTH)["similarity"], (gram / norms[:, None] / norms).detach(), atol=0.02, rtol=0
    )
