"""Sinusoids against other people's code, and by what they promise: similarity depends on the offset alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from engine.encodings.sinusoidal.layer import Sinusoidal
from tests.engine.tiny import tiny_config, tiny_encoding

LENGTH, WIDTH = 50, 32


def sinusoids(**settings: object) -> torch.Tensor:
    """[position, d_model]"""
    encoding = tiny_encoding(
        Sinusoidal, tiny_config(pos_encoding="sinusoidal", d_model=WIDTH, **settings), max_positions=LENGTH
    )
    return encoding.add_to_embedding(torch.zeros(1, LENGTH, WIDTH), range(LENGTH))[0]


def test_interleaved_agrees_with_xlm() -> None:
    from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings

    expected = nn.Embedding(LENGTH, WIDTH)
    create_sinusoidal_embeddings(LENGTH, WIDTH, out=expected.weight)
    torch.testing.assert_close(sinusoids(), expected.weight.detach(), atol=1e-5, rtol=0)


def test_halves_agree_with_x_transformers_up_to_its_scale() -> None:
    from x_transformers.x_transformers import ScaledSinusoidalEmbedding

    theirs = ScaledSinusoidalEmbedding(WIDTH)(torch.zeros(1, LENGTH, WIDTH)).detach() * WIDTH**0.5
    torch.testing.assert_close(sinusoids(sinusoid_layout="halves"), theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
@pytest.mark.parametrize("base", [100.0, 10_000.0])
def test_products_depend_on_the_offset_alone(layout: str, base: float) -> None:
    rows = sinusoids(sinusoid_layout=layout, sinusoid_base=base)
    gram = rows @ rows.T
    for offset in range(LENGTH):
        diagonal = gram.diagonal(offset)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-4, rtol=0)
    torch.testing.assert_close(gram.diagonal(), torch.full((LENGTH,), WIDTH / 2), atol=1e-4, rtol=0)


def test_both_layouts_hold_the_same_similarities_and_the_base_sets_the_longest_wavelength() -> None:
    one, other = sinusoids(sinusoid_layout="interleaved"), sinusoids(sinusoid_layout="halves")
    assert not torch.allclose(one, other)
    torch.testing.assert_close(one @ one.T, other @ other.T, atol=1e-4, rtol=0)

    slowest = sinusoids(sinusoid_base=50.0, sinusoid_layout="halves")[1, WIDTH // 2 - 1]
    torch.testing.assert_close(slowest, torch.tensor(50.0 ** -(30 / 32)).sin())


def test_picture_is_the_table_and_its_cosines() -> None:
    encoding = tiny_encoding(Sinusoidal, tiny_config(pos_encoding="sinusoidal", d_model=WIDTH), max_positions=LENGTH)
    matrices = encoding.matrices(12)
    torch.testing.assert_close(matrices["matrix"], sinusoids()[:12])
    assert matrices["similarity"].shape == (12, 12)
    torch.testing.assert_close(matrices["similarity"].diagonal(), torch.ones(12))
    assert matrices["similarity"][0, 1].item() == pytest.approx(0.957, abs=0.01)
