"""CoPE against x-transformers, against loops over its equations, and as a counter."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from engine.encodings.cope.layer import Cope
from tests.engine.tiny import tiny_config, tiny_encoding

HEADS, LENGTH, WIDTH = 4, 9, 4


def cope(causal: bool, **settings: object) -> Cope:
    encoding = tiny_encoding(
        Cope, tiny_config(pos_encoding="cope", **settings), max_positions=LENGTH, causal=causal
    ).double()
    torch.nn.init.normal_(encoding.vectors)
    return encoding


def q_and_k() -> tuple[Tensor, Tensor]:
    q, k = torch.randn(2, 2, HEADS, LENGTH, WIDTH, dtype=torch.float64)
    return q, k


def literal(encoding: Cope, q: Tensor, k: Tensor, i: int, j: int) -> Tensor:
    """q . e[p] for one query and key, with e[p] interpolated; q [d_head], k [key, d_head]."""
    between = range(j, i + 1) if j <= i else range(i, j + 1)
    p = sum(1 / (1 + math.exp(-float(q @ k[t]))) for t in between)
    p = min(p, encoding.vectors.shape[1] - 1)
    vectors = encoding.vectors[0 if j <= i else 1]
    low, high = vectors[math.floor(p)], vectors[math.ceil(p)]
    return q @ ((p - math.floor(p)) * high + (1 - (p - math.floor(p))) * low)


@pytest.mark.parametrize("counts", [3, 64])
@pytest.mark.parametrize("causal", [True, False])
def test_agrees_with_the_equations(causal: bool, counts: int) -> None:
    encoding, (q, k) = cope(causal, cope_counts=counts), q_and_k()
    bias = encoding.score_bias(q, k, range(LENGTH), range(LENGTH))
    for i in range(LENGTH):
        for j in range(i + 1 if causal else LENGTH):
            expected = literal(encoding, q[1, 2, i], k[1, 2], i, j)
            torch.testing.assert_close(bias[1, 2, i, j], expected)


def test_agrees_with_x_transformers_in_a_causal_stack() -> None:
    from x_transformers.x_transformers import CoPE

    encoding, (q, k) = cope(True, cope_counts=5), q_and_k()
    theirs = CoPE(WIDTH, HEADS, 5).double()
    theirs.pos_emb.data.copy_(encoding.vectors[0])
    future = torch.ones(LENGTH, LENGTH).triu(1).bool()
    expected = theirs(q, (q @ k.mT).masked_fill(future, -torch.inf))
    bias = encoding.score_bias(q, k, range(LENGTH), range(LENGTH))
    torch.testing.assert_close(bias[..., ~future], expected[..., ~future])


def test_it_can_count_what_matters() -> None:
    """With keys that the gate passes or stops, position p is the number of those passed, whatever stands between."""
    encoding = cope(True)
    passes = torch.tensor([1, 0, 0, 1, 1, 0, 1, 0, 0])
    q = torch.ones(1, 1, LENGTH, WIDTH).double()
    k = torch.where(passes.bool()[:, None], 100.0, -100.0).expand(1, 1, LENGTH, WIDTH).double()
    bias = encoding.score_bias(q, k, range(LENGTH), range(LENGTH))[0, 0, -1]
    counts = passes.flip(0).cumsum(0).flip(0)
    torch.testing.assert_close(bias, encoding.vectors[0].sum(-1)[counts])


@pytest.mark.parametrize("causal", [True, False])
def test_picture_is_one_on_the_diagonal(causal: bool) -> None:
    matrices = cope(causal).matrices(LENGTH)
    assert matrices["matrix"].shape == (64 * (1 if causal else 2), WIDTH)
    torch.testing.assert_close(matrices["similarity"].diagonal(), torch.ones(LENGTH))


def test_what_is_not_finite_comes_out_so_and_is_no_index() -> None:
    q, k = q_and_k()
    q[0, 0, 3] = math.nan
    bias = cope(causal=True).score_bias(q, k, range(LENGTH), range(LENGTH))
    assert bias[0, 0, 3, :4].isnan().all()
    assert bias[1].isfinite().all()
