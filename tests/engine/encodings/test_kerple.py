"""KERPLE's kernels against a literal transcription, and the properties its theory asks for."""

from __future__ import annotations

import math

import pytest
import torch

from engine.encodings.kerple.layer import Kerple
from tests.engine.tiny import tiny_config, tiny_encoding

LENGTH = 11


def kerple(kernel: str) -> Kerple:
    return tiny_encoding(Kerple, tiny_config(pos_encoding="kerple", kerple_kernel=kernel), max_positions=LENGTH)


def literal(kernel: str, r_1: float, r_2: float, distance: int) -> float:
    return -r_1 * math.log(1 + r_2 * distance) if kernel == "log" else -r_1 * distance**r_2


@pytest.mark.parametrize("kernel", ["log", "power"])
def test_agrees_with_the_equations_and_with_the_authors_first_values(kernel: str) -> None:
    encoding = kerple(kernel)
    q = torch.zeros(1, 4, LENGTH, 4)
    bias = encoding.score_bias(q, q, range(LENGTH), range(LENGTH))[0]
    ones, twos = (r.flatten().tolist() for r in encoding.r())
    for h, (r_1, r_2) in enumerate(zip(ones, twos, strict=True)):
        expected = [[literal(kernel, r_1, r_2, abs(i - j)) for j in range(LENGTH)] for i in range(LENGTH)]
        torch.testing.assert_close(bias[h], torch.tensor(expected))

    config = tiny_config(pos_encoding="kerple", kerple_kernel=kernel, n_heads=64, d_head=1)
    r_1, r_2 = tiny_encoding(Kerple, config, max_positions=4).r()
    most = (2.0, 1.0) if kernel == "log" else (1.0, 2.0)
    for r, top in zip((r_1, r_2), most, strict=True):
        assert r.min() >= 0.0099
        assert top * 0.8 < r.max() <= top + 1e-6


@pytest.mark.parametrize("kernel", ["log", "power"])
def test_the_kernel_is_conditionally_positive_definite(kernel: str) -> None:
    """sum c_i c_j k(i, j) >= 0 wherever sum c_i = 0: what Chi et al. ask of a kernel, whatever its learned numbers."""
    encoding = kerple(kernel)
    with torch.no_grad():
        encoding.raw_1.copy_(torch.tensor([-9.0, 0.0, 3.0, 9.0]))
        encoding.raw_2.copy_(torch.tensor([-9.0, 0.0, 9.0, 3.0]))
    matrix = encoding.bias(range(LENGTH), range(LENGTH)).double()
    centre = torch.eye(LENGTH).double() - 1 / LENGTH
    eigenvalues = torch.linalg.eigvalsh(centre @ matrix @ centre)
    assert (eigenvalues >= -1e-4 * matrix.abs().amax((1, 2))[:, None]).all()


def test_no_gradient_is_lost_at_distance_zero() -> None:
    encoding = kerple("power")
    encoding.bias(range(LENGTH), range(LENGTH)).square().sum().backward()
    assert encoding.raw_2.grad.isfinite().all()
    assert (encoding.raw_2.grad != 0).all()
