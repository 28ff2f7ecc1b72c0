"""Learned Fourier features against a literal transcription of their equations, and their kernel."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from engine.encodings.fourier.layer import Fourier
from tests.engine.tiny import tiny_config, tiny_encoding

LENGTH = 12


def literal(encoding: Fourier, position: int) -> Tensor:
    """MLP(1/sqrt(F) [cos x w, sin x w]) number by number, with gelu(z) = z Phi(z)."""
    w, width = encoding.frequencies.tolist(), 2 * len(encoding.frequencies)
    r = [math.cos(position * f) / math.sqrt(width) for f in w] + [math.sin(position * f) / math.sqrt(width) for f in w]
    hidden = []
    for row, bias in zip(encoding.hidden.weight.tolist(), encoding.hidden.bias.tolist(), strict=True):
        z = sum(a * b for a, b in zip(row, r, strict=True)) + bias
        hidden.append(z * (1 + math.erf(z / math.sqrt(2))) / 2)
    out = zip(encoding.out.weight.tolist(), encoding.out.bias.tolist(), strict=True)
    return torch.tensor([sum(a * b for a, b in zip(row, hidden, strict=True)) + bias for row, bias in out])


def test_agrees_with_the_equations() -> None:
    encoding = tiny_encoding(
        Fourier, tiny_config(pos_encoding="fourier", fourier_frequencies=5), max_positions=LENGTH
    ).double()
    x = torch.randn(2, LENGTH, 16, dtype=torch.float64)
    added = encoding.add_to_embedding(x, range(3, 3 + LENGTH)) - x
    for place in range(LENGTH):
        expected = literal(encoding, place + 3).double()
        torch.testing.assert_close(added[:, place], expected.expand(2, -1), atol=1e-5, rtol=1e-5)


def test_features_approximate_a_gaussian_kernel_of_the_asked_width() -> None:
    settings = {"fourier_frequencies": 256, "fourier_length_scale": 3.0}
    features = tiny_encoding(Fourier, tiny_config(pos_encoding="fourier", **settings), max_positions=LENGTH).features(
        range(LENGTH)
    )
    kernel = torch.tensor([[math.exp(-((i - j) ** 2) / 18) / 2 for j in range(LENGTH)] for i in range(LENGTH)])
    torch.testing.assert_close(features @ features.T, kernel, atol=0.1, rtol=0)


@pytest.mark.parametrize("name", ["fourier", "mlp"])
@pytest.mark.parametrize(("given", "expected"), [(None, 0.3), (0.05, 0.05), (0.0, 0.0)])
def test_the_first_scale_is_the_asked_one(name: str, given: float | None, expected: float) -> None:
    from engine.encodings.mlp.layer import PositionMlp

    config = tiny_config(pos_encoding=name, token_init_std=0.3, encoding_init_std=given)
    rows = tiny_encoding({"fourier": Fourier, "mlp": PositionMlp}[name], config, max_positions=LENGTH).rows(
        range(LENGTH)
    )
    assert rows.square().mean().sqrt().item() == pytest.approx(expected, abs=1e-6)
