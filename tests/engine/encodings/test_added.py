import math

import pytest
import torch
from torch import Tensor, nn

from engine.encodings.base.layer import PositionOutOfRange
from engine.encodings.conv.layer import Convolution
from engine.encodings.fourier.layer import Fourier
from tests.engine.tiny import given_to, tiny_encoding, tiny_model, tokens

LENGTH, WIDTH = 12, 32


def test_adds_its_row_to_each_position_and_only_rows_in_use_get_gradient() -> None:
    encoding = tiny_encoding("learned", max_positions=8)
    x = torch.randn(3, 5, 16)
    torch.testing.assert_close(encoding.add_to_embedding(x, range(2, 7)) - x, encoding.table[2:7].expand(3, -1, -1))

    model = tiny_model(pos_encoding="learned", max_positions=12)
    model(**given_to(model)).sum().backward()
    rows = model.encoding.table.grad.abs().sum(-1)
    assert (rows[:10] > 0).all()
    assert (rows[10:] == 0).all()


@pytest.mark.parametrize(("settings", "std"), [({"token_init_std": 0.3}, 0.3), ({"table_init_std": 0.02}, 0.02)])
def test_scale_is_tied_to_the_tokens_unless_it_is_set(settings: dict[str, float], std: float) -> None:
    table = tiny_encoding("learned", max_positions=400, d_model=64, **settings).table
    assert table.std().item() == pytest.approx(std, rel=0.03)


def test_a_position_beyond_the_table_is_named() -> None:
    model = tiny_model(pos_encoding="learned", max_positions=10)
    model(tokens(10))
    with pytest.raises(PositionOutOfRange, match="Position 12 has no row: the learned table ends at position 10"):
        model(tokens(12))
    with pytest.raises(PositionOutOfRange):
        model(tokens(10), positions=range(1, 11))


def sinusoids(**settings: object) -> torch.Tensor:
    """[position, d_model]"""
    encoding = tiny_encoding("sinusoidal", max_positions=LENGTH, d_model=WIDTH, **settings)
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


def test_the_base_sets_the_longest_wavelength_and_the_picture_is_the_table_and_its_cosines() -> None:
    slowest = sinusoids(sinusoid_base=50.0, sinusoid_layout="halves")[1, WIDTH // 2 - 1]
    torch.testing.assert_close(slowest, torch.tensor(50.0 ** -(30 / 32)).sin())

    matrices = tiny_encoding("sinusoidal", max_positions=LENGTH, d_model=WIDTH).matrices(12)
    torch.testing.assert_close(matrices["matrix"], sinusoids()[:12])
    assert matrices["similarity"].shape == (12, 12)
    torch.testing.assert_close(matrices["similarity"].diagonal(), torch.ones(12))
    assert matrices["similarity"][0, 1].item() == pytest.approx(0.957, abs=0.01)


def fourier_row(encoding: Fourier, position: int) -> Tensor:
    """MLP(1/sqrt(F) [cos x w, sin x w]) number by number, with gelu(z) = z Phi(z)."""
    w, width = encoding.frequencies.tolist(), 2 * len(encoding.frequencies)
    r = [math.cos(position * f) / math.sqrt(width) for f in w] + [math.sin(position * f) / math.sqrt(width) for f in w]
    hidden = []
    for row, bias in zip(encoding.hidden.weight.tolist(), encoding.hidden.bias.tolist(), strict=True):
        z = sum(a * b for a, b in zip(row, r, strict=True)) + bias
        hidden.append(z * (1 + math.erf(z / math.sqrt(2))) / 2)
    out = zip(encoding.out.weight.tolist(), encoding.out.bias.tolist(), strict=True)
    return torch.tensor([sum(a * b for a, b in zip(row, hidden, strict=True)) + bias for row, bias in out])


def test_fourier_agrees_with_the_equations() -> None:
    encoding = tiny_encoding("fourier", max_positions=LENGTH, fourier_frequencies=5).double()
    x = torch.randn(2, LENGTH, 16, dtype=torch.float64)
    added = encoding.add_to_embedding(x, range(3, 3 + LENGTH)) - x
    for position in range(LENGTH):
        expected = fourier_row(encoding, position + 3).double()
        torch.testing.assert_close(added[:, position], expected.expand(2, -1), atol=1e-5, rtol=1e-5)


def test_features_approximate_a_gaussian_kernel_of_the_asked_width() -> None:
    settings = {"fourier_frequencies": 256, "fourier_length_scale": 3.0}
    features = tiny_encoding("fourier", max_positions=LENGTH, **settings).features(range(LENGTH))
    kernel = torch.tensor([[math.exp(-((i - j) ** 2) / 18) / 2 for j in range(LENGTH)] for i in range(LENGTH)])
    torch.testing.assert_close(features @ features.T, kernel, atol=0.1, rtol=0)


@pytest.mark.parametrize("name", ["fourier", "mlp"])
@pytest.mark.parametrize(("given", "expected"), [(None, 0.3), (0.05, 0.05), (0.0, 0.0)])
def test_the_first_scale_is_the_asked_one(name: str, given: float | None, expected: float) -> None:
    encoding = tiny_encoding(name, max_positions=LENGTH, token_init_std=0.3, encoding_init_std=given)
    rows = encoding.rows(range(LENGTH))
    assert rows.square().mean().sqrt().item() == pytest.approx(expected, abs=1e-6)


def test_agrees_with_torchs_layers() -> None:
    encoding = tiny_encoding("mlp", max_positions=8, position_mlp_layers=2)
    net = nn.Sequential(nn.Linear(1, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 16))
    for theirs, ours in zip(net[::2], [*encoding.hidden, encoding.out], strict=True):
        theirs.load_state_dict(ours.state_dict())
    x = torch.randn(2, 10, 16)
    expected = x + net(torch.arange(4, 14)[:, None] / 8)  # beyond the trained length 8 too
    torch.testing.assert_close(encoding.add_to_embedding(x, range(4, 14)), expected)


def convolved(encoding: Convolution, x: Tensor, after: int) -> Tensor:
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
def test_a_convolution_agrees_with_the_equation(causal: bool, reach: int) -> None:
    encoding = tiny_encoding("conv", max_positions=9, causal=causal, conv_reach=reach).double()
    x = torch.randn(2, LENGTH, 16, dtype=torch.float64)
    expected = convolved(encoding, x, 0 if causal else reach)
    torch.testing.assert_close(encoding.add_to_embedding(x, range(LENGTH)), expected)


def test_the_picture_tells_the_ends_apart_neighbours_alike_and_is_that_of_random_tokens() -> None:
    matrices = tiny_encoding("conv", max_positions=9, conv_reach=2).matrices(LENGTH)
    rows, similarity = matrices["matrix"], matrices["similarity"]
    torch.testing.assert_close(rows[3], rows[6])
    assert not torch.allclose(rows[0], rows[3])
    assert (similarity.diagonal(3) == 0).all()  # a causal reach of 2: three apart read nothing in common
    assert (similarity.diagonal(1) != 0).all()

    encoding = tiny_encoding("conv", max_positions=9, d_model=64)
    added = encoding.mix(torch.randn(4000, LENGTH, 64)) - encoding.mix.bias
    gram = torch.einsum("bic,bjc->ij", added, added)
    norms = gram.diagonal().sqrt()
    cosines = (gram / norms[:, None] / norms).detach()
    torch.testing.assert_close(encoding.matrices(LENGTH)["similarity"], cosines, atol=0.02, rtol=0)
