"""Profiles, spectra, components and order against what they must be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.analysis.encodings import spectra


def test_a_profile_has_mean_smallest_and_largest_which_are_one_where_offsets_are_all() -> None:
    offsets = np.arange(-5, 6)
    at = np.arange(6)
    matrix = np.cos(0.3 * (at[None, :] - at[:, None]))
    mean, low, high = spectra.by_offset(np.stack([matrix, 2 * matrix]), offsets)
    np.testing.assert_allclose(mean[0], np.cos(0.3 * offsets))
    np.testing.assert_allclose(mean[1], 2 * np.cos(0.3 * offsets))
    np.testing.assert_allclose(low, high)

    matrix = np.diag([1.0, 2.0], 1)
    mean, low, high = (part.item() for part in spectra.by_offset(matrix, np.array([1])))
    assert (mean, low, high) == (1.5, 1.0, 2.0)


def test_singular_values_are_numpys() -> None:
    matrix = np.random.default_rng(0).normal(size=(7, 4))
    np.testing.assert_allclose(spectra.singular_values(matrix), np.linalg.svd(matrix, compute_uv=False))


def test_a_wave_has_its_power_at_its_frequency() -> None:
    wave = np.sin(2 * np.pi * np.arange(32) * 4 / 32)[:, None]
    frequencies, power = spectra.fourier(wave + 5.0)
    assert frequencies[power.argmax()] == pytest.approx(4 / 32)
    assert power.sum() == pytest.approx(1.0)
    assert spectra.fourier(np.ones((8, 2)))[1].tolist() == [0.0] * 5


def test_components_of_points_on_a_line_are_one_line() -> None:
    at = np.arange(10.0)
    rows = at[:, None] * np.array([3.0, 4.0]) + 7.0
    curves, explained = spectra.components(rows, trained=6)
    np.testing.assert_allclose(explained, [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(np.diff(curves[0]), 5.0)  # |(3, 4)|, and beyond the trained rows it goes on
    assert curves[0][:6].mean() == pytest.approx(0.0)


def test_order_is_one_where_likeness_falls_in_a_straight_line_and_none_where_all_are_alike() -> None:
    at = np.arange(9)
    near = -np.abs(at[:, None] - at[None, :]).astype(float)
    assert (spectra.order(near), spectra.order(-near)) == pytest.approx((1.0, -1.0))
    assert math.isnan(spectra.order(np.ones((5, 5))))
    assert math.isnan(spectra.order(np.ones((1, 1))))
