"""The fit of a machine's speed."""

import numpy as np
import pytest

from engine.training.speed import not_negative


def test_known_prices_are_found_and_none_is_below_zero() -> None:
    work = np.array([[1, 4, 100, 1e6], [1, 64, 500, 2e6], [1, 16, 9000, 4e6], [1, 8, 700, 9e8], [1, 30, 3000, 1e8]])
    prices = np.array([1e-3, 2e-5, 3e-8, 4e-12])
    assert not_negative(work, work @ prices) == pytest.approx(prices, rel=1e-6)

    work = np.array([[1, 10, 1e6], [1, 20, 1e6], [1, 30, 5e6]])
    prices = not_negative(work, np.array([5e-3, 4e-3, 3e-3]))
    assert min(prices) >= 0
    assert max(prices) > 0
