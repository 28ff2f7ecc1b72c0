"""The interval and the p-value agree with scipy's own, which the page's process does not load."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from engine.evidence.statistics import sign_flip_p, t_interval


@pytest.mark.parametrize("n", [2, 3, 6, 8, 12])
def test_interval_and_p_agree_with_scipy(n: int) -> None:
    values = np.random.default_rng(n).normal(0.4, 1.0, n)
    interval = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert t_interval(values) == pytest.approx((interval.low, interval.high))
    expected = stats.permutation_test(
        (values,), lambda x, axis: np.mean(x, axis=axis), permutation_type="samples", n_resamples=2**n
    ).pvalue
    assert sign_flip_p(values) == pytest.approx(expected)


def test_ties_count_and_no_difference_is_no_evidence() -> None:
    assert sign_flip_p(np.zeros(8)) == 1.0
    assert sign_flip_p(np.full(8, 0.1)) == pytest.approx(2 / 256)
    assert sign_flip_p(np.array([0.1, 0.2, 0.3, -0.6])) == 1.0


def test_beyond_sixteen_seeds_p_is_sampled_and_never_zero() -> None:
    assert 0 < sign_flip_p(np.full(20, 0.5)) < 1e-3


def test_weighing_loads_no_scipy_stats() -> None:
    code = "import sys; from engine.evidence.statistics import weigh; weigh([1, 2, 3], 0.1); print('scipy.stats' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
