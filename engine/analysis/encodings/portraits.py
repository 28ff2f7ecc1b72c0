"""Portraits of encodings: their matrices over positions, and the numbers computed from them.

``matrices``, ``profile`` and ``preview`` use first weights: the matrices alone, with all numbers, and as a run would start with
them. ``profile_of_snapshot`` uses the matrices that a run stored along its training.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from engine.analysis.encodings import spectra
from engine.analysis.encodings.jobs import FirstProfile, Lines, Matrices, MatrixKind, Profile
from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, matrices_of
from engine.estimate.layout import shapes
from engine.model.build import build_model
from engine.model.layers import positional_encoding
from engine.runs.events import of_layer
from engine.runs.folder import RunFolder

PROBED = 16
"""The number of positions at which the size of what is added to tokens is measured."""
BEYOND = 2
"""The length of a preview as a multiple of the trained length, where the encoding has rows there."""
Array = np.ndarray
MAX_CELLS = 16_000
"""The most cells of one matrix; redrawing more is noticeably slow."""
POINTS = 250
"""The most points of a line; a figure is some 300 pixels wide."""


def matrices(config: RunConfig, shown: int) -> Matrices:
    """The quick part of :func:`profile`: only the :class:`Matrices`."""
    arrays, rows = matrices_of(first_weights(config), shown)
    return thinned_matrices(config, arrays, config.seq_len, rows)


def profile(config: RunConfig, shown: int) -> FirstProfile:
    """The portrait of first weights drawn from the config's seed.

    The trained length is ``config.seq_len``; the portrait covers ``shown`` positions, or as many as there are rows.
    """
    encoding = first_weights(config)
    arrays, rows = matrices_of(encoding, shown)
    whole = profile_of(config, arrays, config.seq_len, rows)
    return FirstProfile(**whole, added_scale=added_scale(config, encoding))


def preview(config: RunConfig) -> dict[str, Array]:
    """The matrices of the encoding with which a run of this config would start, over ``BEYOND`` times the trained length where it has
    rows there."""
    sizes = shapes(config)
    model = build_model(config, **sizes.of_model).eval()
    return matrices_of(model.encoding, BEYOND * sizes.position_range)[0]  # type: ignore[arg-type]


def profile_of_snapshot(folder: str, config: RunConfig, step: int, layer: int = 0) -> Profile:
    """The portrait of a run's snapshot; ``layer`` counts where each layer has its own encoding. Raises ValueError without one."""
    arrays = _stored(folder, step, layer)
    rows = arrays["similarity"].shape[-1]
    return profile_of(config, arrays, rows, rows)


def along(folder: str, steps: Sequence[int], layer: int = 0) -> dict[str, list[float]]:
    """``order`` and ``scale`` (root mean square of the matrix) at each of a run's snapshots, [step]."""
    stored = [_stored(folder, step, layer) for step in steps]
    return {
        "order": [spectra.order(arrays["similarity"]) for arrays in stored],
        "scale": [float(np.sqrt(np.mean(np.square(arrays["matrix"], dtype=float)))) for arrays in stored],
    }


def final_scales(folder: str, layer: int = 0) -> dict[str, float]:
    """The root mean square of ``tokens`` and ``encoding`` (the layer's, where each has its own) in the weights of a run; empty
    where the run has no weights."""
    file = RunFolder(Path(folder)).weights
    if not file.exists():
        return {}
    weights = load_file(file)
    parts = {
        "tokens": [n for n in weights if n.startswith("embedding.")],
        "encoding": [n for n in weights if f".encodings.{layer}." in n],
    }
    return {
        part: torch.cat([weights[name].flatten().float() for name in names]).square().mean().sqrt().item()
        for part, names in parts.items()
        if names
    }


def _stored(folder: str, step: int, layer: int) -> dict[str, Array]:
    """The matrices of a layer's encoding in a run's snapshot. Raises ValueError where the snapshot has none."""
    arrays = dict(RunFolder(Path(folder)).arrays_of(step, "encoding"))
    names = {name: of_layer(name, layer) for name in ("matrix", "similarity")}
    if not set(names.values()) <= arrays.keys():
        raise ValueError(f"step is {step}; no picture of the encoding of layer {layer + 1} was kept there.")
    return {name: arrays[stored_name] for name, stored_name in names.items()}


def first_weights(config: RunConfig) -> PositionalEncoding:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(config.seed)
        return positional_encoding(config, max_positions=config.seq_len, causal=config.causal).eval()


@torch.no_grad()
def added_scale(config: RunConfig, encoding: PositionalEncoding) -> float:
    """The root mean square of what the encoding adds to random tokens of the config's own scale."""
    length, drawn = min(config.seq_len, PROBED), torch.Generator().manual_seed(config.seed)
    tokens = torch.randn(1, length, config.d_model, generator=drawn) * config.token_init_std
    return (encoding.add_to_embedding(tokens, range(length)) - tokens).square().mean().sqrt().item()


def profile_of(config: RunConfig, arrays: dict[str, Array], trained: int, rows: int) -> Profile:
    """The portrait of the ``matrix`` and ``similarity`` of ``rows`` positions, in the form of snapshots."""
    return Profile(**thinned_matrices(config, arrays, trained, rows), **lines_of(config, arrays, min(trained, rows)))


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
    return {
        "kind": kind, "matrix": tiles, "matrix_at": tiles_at + _first_row(config, matrix),
        "similarity": alike, "dot": dot, "similarity_at": alike_at,
        "only_before": only_before, "trained": min(trained, rows), "rows": rows,
    }  # fmt: skip


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
    return {
        "offsets": offsets, "profile": profile, "low": low, "high": high,
        "singular": spectra.singular_values(spectrum_of), "frequencies": frequencies, "power": power,
        "components": curves[..., curves_at], "components_at": curves_at + _first_row(config, matrix),
        "explained": explained, "order": spectra.order(similarity[:trained, :trained]),
    }  # fmt: skip


def kind_of(config: RunConfig, matrix: Array) -> MatrixKind:
    """The kind of a matrix, by its shape and the part of the model that the encoding acts on."""
    acts_on = config.encoding.acts_on
    if matrix.ndim == 3:
        return "bias"
    return "angles" if acts_on == "rotation" else "vectors" if acts_on == "scores" else "table"


def vectors_of(kind: MatrixKind, matrix: Array) -> Array:
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
    while array.size / every**axes > MAX_CELLS:
        every += 1
    at = np.arange(0, length, every)
    thin = array[at] if axes == 1 else array[..., ::every, ::every]
    return thin.astype(np.float32), at
