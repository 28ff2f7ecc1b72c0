"""A gradient that is finite has a finite norm, also where its squares overflow float32."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from engine.training.train import gradient_norm


def parameter(grad: list[float], dtype: torch.dtype = torch.float32) -> nn.Parameter:
    made = nn.Parameter(torch.zeros(len(grad), dtype=dtype))
    made.grad = torch.tensor(grad, dtype=dtype)
    return made


def test_small_gradients_squares_that_overflow_and_what_is_not_finite() -> None:
    assert gradient_norm([parameter([3.0]), parameter([4.0])]) == pytest.approx(5.0)
    assert gradient_norm([parameter([3e25, 0.0]), parameter([4e25])]) == pytest.approx(5e25, rel=1e-6)
    assert gradient_norm([parameter([3e4, 4e4], torch.float16)]) == pytest.approx(5e4, rel=1e-3)
    for value in (math.inf, math.nan):
        assert not math.isfinite(gradient_norm([parameter([1.0, value])]))
