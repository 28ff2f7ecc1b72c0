"""xPos against two libraries and against its equation, also looking both ways."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from engine.encodings.rope.layer import Rope
from engine.encodings.xpos.layer import Xpos
from tests.engine.tiny import tiny_config, tiny_encoding

LENGTH, WIDTH = 12, 8
SHAPE = {"d_model": 32, "n_heads": 4, "pos_encoding": "xpos"}


def xpos(causal: bool = True, **settings: object) -> Xpos:
    return tiny_encoding(Xpos, tiny_config(**SHAPE, **settings), max_positions=LENGTH, causal=causal)


def q_and_k() -> tuple[Tensor, Tensor]:
    q, k = torch.randn(2, 2, 4, LENGTH, WIDTH, dtype=torch.float64)
    return q, k


def scores(encoding: Xpos, q: Tensor, k: Tensor, first: int = 0) -> Tensor:
    places = range(first, first + LENGTH)
    turned_q, turned_k = encoding.rotate(q, places), encoding.rotate_keys(k, places)
    bias = encoding.score_bias(turned_q, turned_k, places, places)
    return turned_q @ turned_k.mT + (0 if bias is None else bias)


def literal(q: Tensor, k: Tensor, distance: int, base: float = 512.0) -> Tensor:
    """Re sum_t q_t conj(k_t) e^(i theta_t (m - n)) zeta_t^(|m - n| / B), for interleaved pairs; q, k [d_head]."""
    total = torch.zeros(()).double()
    for t in range(WIDTH // 2):
        theta, zeta = 10_000 ** (-2 * t / WIDTH), (2 * t / WIDTH + 0.4) / 1.4
        product = complex(q[2 * t], q[2 * t + 1]) * complex(k[2 * t], k[2 * t + 1]).conjugate()
        turned = product * complex(math.cos(theta * distance), math.sin(theta * distance))
        total += turned.real * zeta ** (abs(distance) / base)
    return total


@pytest.mark.parametrize("causal", [True, False])
def test_agrees_with_the_equation(causal: bool) -> None:
    q, k = q_and_k()
    ours = scores(xpos(causal, rope_layout="interleaved", xpos_scale_base=7.0), q, k)
    for m in range(LENGTH):
        for n in range(m + 1 if causal else LENGTH):
            torch.testing.assert_close(ours[0, 1, m, n], literal(q[0, 1, m], k[0, 1, n], m - n, 7.0))


def test_agrees_with_rotary_embedding_torch_in_a_causal_stack() -> None:
    from rotary_embedding_torch import RotaryEmbedding

    q, k = (t.float() for t in q_and_k())
    turned = RotaryEmbedding(dim=WIDTH, use_xpos=True).rotate_queries_and_keys(q, k)
    ours = scores(xpos(rope_layout="interleaved"), q, k)
    torch.testing.assert_close(ours, turned[0] @ turned[1].mT, atol=1e-5, rtol=1e-5)


def test_agrees_with_x_transformers_in_a_causal_stack() -> None:
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    q, k = (t.float() for t in q_and_k())
    freqs, scale = RotaryEmbedding(WIDTH, use_xpos=True)(torch.arange(LENGTH))
    theirs = apply_rotary_pos_emb(q, freqs, scale) @ apply_rotary_pos_emb(k, freqs, scale**-1.0).mT
    torch.testing.assert_close(scores(xpos(rope_layout="interleaved"), q, k), theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("layout", ["interleaved", "rotate_half"])
@pytest.mark.parametrize("causal", [True, False])
def test_scores_depend_on_the_offset_alone(causal: bool, layout: str) -> None:
    q, k = q_and_k()
    encoding = xpos(causal, rope_layout=layout, xpos_scale_base=64.0)
    torch.testing.assert_close(scores(encoding, q, k), scores(encoding, q, k, first=100))


def test_without_decay_it_is_rope() -> None:
    q, k = q_and_k()
    rope = tiny_encoding(Rope, tiny_config(d_model=32, n_heads=4, pos_encoding="rope"), max_positions=LENGTH)
    expected = rope.rotate(q, range(LENGTH)) @ rope.rotate(k, range(LENGTH)).mT
    torch.testing.assert_close(scores(xpos(xpos_scale_base=1e6), q, k), expected, atol=1e-3, rtol=1e-3)
