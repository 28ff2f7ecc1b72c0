"""The numbers shown of an encoding's matrix: similarity of positions, profile over the offset, values beyond training."""

from __future__ import annotations

import numpy as np

from engine.analysis import spectra
from engine.analysis.encoding_jobs import Kind, Lines, Matrices, Portrait
from engine.config.run_config import RunConfig

Array = np.ndarray

CELLS = 16_000
"""The most cells of one matrix; redrawing more is noticeably slow."""
POINTS = 250
"""The most points of a line; a figure is some 300 pixels wide."""


def portrait_of(config: RunConfig, arrays: dict[str, Array], trained: int, rows: int) -> Portrait:
    """The portrait of the ``matrix`` and ``similarity`` of ``rows`` positions, in the form of snapshots."""
    return Portrait(**thinned_matrices(config, arrays, trained, rows), **lines_of(config, arrays, min(trained, rows)))


def thinned_matrices(config: RunConfig, arrays: dict[str, Array], trained: int, rows: int) -> Matrices:
    """The matrices with few enough cells to draw, and their dot products."""
    matrix, similarity = arrays["matrix"], arrays["similarity"]
    kind, only_before = kind_of(config, matrix), _looks_back(config, matrix)
    tiles, tiles_at = _thinned(matrix, 1 if kind in ("table", "angles", "vectors") else 2)
    alike, alike_at = _thinned(similarity, 2)
    dot = None
    if kind in ("table", "angles"):
        vectors = vectors_of(kind, matrix[alike_at])
        dot = (vectors @ vectors.T).astype(np.float32)
    if only_before:  # no query sees the keys above the diagonal
        tiles, alike = np.tril(tiles) if kind == "bias" else tiles, np.tril(alike)
    return Matrices(
        kind=kind,
        matrix=tiles,
        matrix_at=tiles_at + _first_row(config, matrix),
        similarity=alike,
        dot=dot,
        similarity_at=alike_at,
        only_before=only_before,
        trained=min(trained, rows),
        rows=rows,
    )


def lines_of(config: RunConfig, arrays: dict[str, Array], trained: int) -> Lines:
    """The lines of a portrait. ``trained``: the number of positions that training reaches and the encoding has."""
    matrix, similarity = arrays["matrix"], arrays["similarity"].astype(float)
    kind = kind_of(config, matrix)
    offsets = _offsets(len(similarity), causal=_looks_back(config, matrix))
    profile, low, high = spectra.by_offset(matrix if kind == "bias" else similarity[None], offsets)
    curves, explained = (np.empty((0, 0)),) * 2
    spectrum_of = similarity[:trained, :trained]
    if kind != "bias":
        vectors, fitted = vectors_of(kind, matrix), len(matrix) if kind == "vectors" else trained
        spectrum_of = vectors[:fitted]
        curves, explained = spectra.components(vectors, fitted)
    curves_at = np.arange(0, curves.shape[-1], max(1, -(-curves.shape[-1] // POINTS)))
    frequencies, power = spectra.fourier(spectrum_of)
    return Lines(
        offsets=offsets,
        profile=profile,
        low=low,
        high=high,
        singular=spectra.singular_values(spectrum_of),
        frequencies=frequencies,
        power=power,
        components=curves[..., curves_at],
        components_at=curves_at + _first_row(config, matrix),
        explained=explained,
        order=spectra.order(similarity[:trained, :trained]),
    )


def kind_of(config: RunConfig, matrix: Array) -> Kind:
    """The kind of a matrix, by its shape and the part of the model that the encoding acts on."""
    acts_on = config.encoding.acts_on
    if matrix.ndim == 3:
        return "bias"
    return "angles" if acts_on == "rotation" else "vectors" if acts_on == "scores" else "table"


def vectors_of(kind: Kind, matrix: Array) -> Array:
    """The vector of each position (of each offset for ``vectors``), [row, dimension], of any kind but a bias.

    Each angle becomes the unit vector (cos, sin): a dot product is then the sum of the cosines of the differences.
    """
    exact = matrix.astype(float)
    return np.concatenate([np.cos(exact), np.sin(exact)], -1) if kind == "angles" else exact


def _looks_back(config: RunConfig, matrix: Array) -> bool:
    """Whether no query asks the encoding about a later key."""
    return config.causal and kind_of(config, matrix) in ("bias", "vectors")


def _first_row(config: RunConfig, matrix: Array) -> int:
    """The offset or position of row 0: vectors of offsets begin at -K; those of counts at 0, as positions do."""
    of_offsets = kind_of(config, matrix) == "vectors" and config.encoding.numbered
    return -((len(matrix) - 1) // 2) if of_offsets else 0


def _offsets(rows: int, *, causal: bool) -> Array:
    every = max(1, -(-(2 - causal) * rows // POINTS))
    distances = np.arange(0, rows, every)
    return -distances[::-1] if causal else np.concatenate([-distances[:0:-1], distances])


def _thinned(array: Array, axes: int) -> tuple[Array, Array]:
    """Every k-th entry of the last axis (of the first, for one axis) so that few enough cells are left; and their indices."""
    length = array.shape[0] if axes == 1 else array.shape[-1]
    every = 1
    while array.size / every**axes > CELLS:
        every += 1
    at = np.arange(0, length, every)
    thin = array[at] if axes == 1 else array[..., ::every, ::every]
    return thin.astype(np.float32), at
