"""RoPE against three libraries, and by what it promises: q_m . k_n depends on m - n alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.encodings.rope.layer import Rope
from tests.engine.tiny import tiny_config, tiny_encoding

LENGTH, WIDTH = 40, 16


def rope(layout: str, base: float = 10_000.0) -> Rope:
    config = tiny_config(pos_encoding="rope", d_head=WIDTH, rope_layout=layout, rope_base=base)
    return tiny_encoding(Rope, config, max_positions=LENGTH)


def queries(seed: int = 0) -> Tensor:
    """[batch, head, length, d_head]"""
    return torch.randn(2, 4, LENGTH, WIDTH, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("base", [500.0, 10_000.0])
def test_interleaved_agrees_with_rotary_embedding_torch(base: float) -> None:
    from rotary_embedding_torch import RotaryEmbedding

    theirs = RotaryEmbedding(WIDTH, theta=base).rotate_queries_or_keys(queries()).detach()
    torch.testing.assert_close(rope("interleaved", base).rotate(queries(), range(LENGTH)), theirs, atol=1e-5, rtol=0)


def test_interleaved_agrees_with_x_transformers() -> None:
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    frequencies, scale = RotaryEmbedding(WIDTH).forward_from_seq_len(LENGTH)
    theirs = apply_rotary_pos_emb(queries(), frequencies, scale)
    torch.testing.assert_close(rope("interleaved").rotate(queries(), range(LENGTH)), theirs, atol=1e-5, rtol=0)


def test_rotate_half_agrees_with_llama() -> None:
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    angles = torch.arange(LENGTH)[:, None] * 10_000.0 ** -(torch.arange(0, WIDTH, 2) / WIDTH)
    both = torch.cat([angles, angles], -1)[None]  # [1, position, d_head]
    theirs, _ = apply_rotary_pos_emb(queries(), queries(), both.cos(), both.sin())
    torch.testing.assert_close(rope("rotate_half").rotate(queries(), range(LENGTH)), theirs, atol=1e-5, rtol=0)


def test_layouts_agree_after_permuting_the_dimensions() -> None:
    halves_to_pairs = torch.arange(WIDTH).view(2, WIDTH // 2).T.flatten()  # 0, 8, 1, 9, ...
    permuted = rope("interleaved").rotate(queries()[..., halves_to_pairs], range(LENGTH))
    halves = rope("rotate_half").rotate(queries(), range(LENGTH))
    assert not torch.allclose(halves, rope("interleaved").rotate(queries(), range(LENGTH)))
    torch.testing.assert_close(permuted, halves[..., halves_to_pairs])


@pytest.mark.parametrize("layout", ["interleaved", "rotate_half"])
def test_turning_keeps_lengths_and_position_zero_and_products_depend_on_the_offset_alone(layout: str) -> None:
    turned = rope(layout).rotate(queries(), range(LENGTH))
    torch.testing.assert_close(turned.norm(dim=-1), queries().norm(dim=-1))
    torch.testing.assert_close(turned[:, :, 0], queries()[:, :, 0])

    q, k = queries(1)[0, 0, :1].double(), queries(2)[0, 0, :1].double()
    same_everywhere = [t.expand(1, 1, LENGTH, WIDTH) for t in (q, k)]
    turned_q, turned_k = (rope(layout).rotate(t, range(LENGTH))[0, 0] for t in same_everywhere)
    products = turned_q @ turned_k.T  # [m, n]
    for offset in range(1 - LENGTH, LENGTH):
        diagonal = products.diagonal(offset)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert products[0].std() > 0.1


def test_picture_gives_angles_and_mean_cosines() -> None:
    matrices = rope("rotate_half").matrices(7)
    assert matrices["matrix"].shape == (7, WIDTH // 2)
    torch.testing.assert_close(matrices["matrix"][3, 0], torch.tensor(3.0))
    difference = matrices["matrix"][5] - matrices["matrix"][2]
    torch.testing.assert_close(matrices["similarity"][5, 2], difference.cos().mean())
