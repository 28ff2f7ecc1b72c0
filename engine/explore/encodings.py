"""An encoding as people look at it: what it adds or turns, how alike it makes positions, over distance and beyond the trained length.

Jobs for a worker. ``portrait`` draws first weights, ``portrait_of_snapshot`` what a run kept along its training.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
import torch
from safetensors.torch import load_file

from engine.config import RunConfig
from engine.encodings import encoding_of
from engine.encodings.base import NoRow, PositionalEncoding
from engine.events import of_layer
from engine.explore import spectra
from engine.run_folder import RunFolder, StoredArrays

Array = np.ndarray
Kind = Literal["table", "angles", "vectors", "bias"]

CELLS = 16_000
"""Cells of one picture; a redraw of more is felt."""
POINTS = 250
"""Places of a line; a figure is some 300 pixels wide."""
PROBED = 16
"""Positions at which it is asked whether the tokens matter."""


class Portrait(TypedDict):
    """Long pictures show every ``k``-th position; ``*_at`` says which. Everything else is computed from all of them."""

    kind: Kind
    """A table [position, dimension], angles [position, pair], vectors [offset, dimension] or a bias [head, query, key]."""
    matrix: Array
    """[row, column] or [head, query, key]"""
    matrix_at: Array
    """[row]"""
    similarity: Array
    """[position, position]: cosine; for a bias its mean over the heads."""
    dot: Array | None
    """[position, position]; None where there are no vectors of positions to multiply."""
    similarity_at: Array
    """[position]"""
    offsets: Array
    """j - i, key minus query, [offset]; where a query sees nothing after it, none above 0."""
    profile: Array
    """Mean similarity, or bias of each head, at each offset, [line, offset]."""
    low: Array
    high: Array
    """Over the positions, [line, offset]."""
    singular: Array
    """Of the table (cosines and sines for angles, the mean bias for a bias) up to the trained length, descending."""
    frequencies: Array
    power: Array
    """Share of the power at each frequency (cycles a position)."""
    components: Array
    """Principal components of the vectors as curves, [component, row]; none for a bias, which has no vectors."""
    components_at: Array
    """[row]"""
    explained: Array
    """Share of the variance, [component]."""
    order: float
    """Correlation of the similarity with -|i - j| over the trained positions; NaN where all are alike."""
    behind: bool
    """Whether only offsets up to 0 are seen: the rest of the pictures over pairs is left blank, as zeros."""
    trained: int
    rows: int
    """Positions the encoding can name, at most those asked for."""


class Effect(TypedDict):
    """What the encoding does to random tokens of the config's own scale."""

    on_content: bool
    """Whether what it adds depends on what the tokens are."""
    added_scale: float
    """Root mean square of what is added to the embedding; 0 where nothing is."""
    token_scale: float


def portrait(config: RunConfig, shown: int) -> dict[str, Any]:
    """:class:`Portrait` and :class:`Effect` in one, of first weights drawn from the config's seed.

    Trained length is ``config.seq_len``; ``shown`` positions are looked at, or as many as there are rows.
    """
    encoding = first_weights(config)
    picture, rows = picture_of(encoding, shown)
    return {**portrait_of_picture(config, picture, config.seq_len, rows), **effect(config, encoding)}


def portrait_of_snapshot(folder: str, config: RunConfig, step: int, layer: int = 0) -> Portrait:
    """Of what a run's snapshot kept; ``layer`` counts where each has its own. Raises ValueError where nothing was kept."""
    picture = _kept(folder, step, layer)
    rows = picture["similarity"].shape[-1]
    return portrait_of_picture(config, picture, rows, rows)


def along(folder: str, steps: Sequence[int], layer: int = 0) -> dict[str, list[float]]:
    """``order`` and ``scale`` (root mean square of the matrix) at each of a run's snapshots, [step]."""
    pictures = [_kept(folder, step, layer) for step in steps]
    return {
        "order": [spectra.order(picture["similarity"]) for picture in pictures],
        "scale": [float(np.sqrt(np.mean(np.square(picture["matrix"], dtype=float)))) for picture in pictures],
    }


def final_scales(folder: str, layer: int = 0) -> dict[str, float]:
    """Root mean square of ``tokens`` and ``encoding`` (the layer's, where each has its own) in the weights a run left; empty where
    it left none."""
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


def _kept(folder: str, step: int, layer: int) -> dict[str, Array]:
    stored = dict(StoredArrays(Path(folder) / "snapshots" / f"{step}.npz", "encoding"))
    names = {name: of_layer(name, layer) for name in ("matrix", "similarity")}
    if not set(names.values()) <= stored.keys():
        raise ValueError(f"step is {step}; no picture of the encoding of layer {layer + 1} was kept there.")
    return {name: stored[kept] for name, kept in names.items()}


def first_weights(config: RunConfig) -> PositionalEncoding:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(config.seed)
        encoding: PositionalEncoding = encoding_of(config).load()(config, max_positions=config.seq_len)
    return encoding.eval()


@torch.no_grad()
def picture_of(encoding: PositionalEncoding, shown: int) -> tuple[dict[str, Array], int]:
    """The encoding's own picture and the number of positions it goes to: a table ends where its rows do."""
    try:
        picture, rows = encoding.picture(shown), shown
    except NoRow as end:
        picture, rows = encoding.picture(end.rows), end.rows
    return {name: value.detach().cpu().numpy() for name, value in picture.items()}, rows


def portrait_of_picture(config: RunConfig, picture: dict[str, Array], trained: int, rows: int) -> Portrait:
    """``picture``: the ``matrix`` and ``similarity`` of ``rows`` positions, as snapshots keep them."""
    matrix, similarity = picture["matrix"], picture["similarity"].astype(float)
    kind = kind_of(config, matrix)
    trained = min(trained, rows)
    vectors = vectors_of(kind, matrix)
    line = matrix if kind == "bias" else similarity[None]
    behind = config.causal and kind in ("bias", "vectors")
    offsets = _offsets(rows, causal=behind)
    profile, low, high = spectra.by_offset(line, offsets)
    fitted = len(matrix) if kind == "vectors" else trained
    spectrum_of = similarity[:trained, :trained] if vectors is None else vectors[:fitted]
    curves, explained = (np.empty((0, 0)),) * 2 if vectors is None else spectra.components(vectors, fitted)
    curves_at = np.arange(0, curves.shape[-1], max(1, -(-curves.shape[-1] // POINTS)))
    frequencies, power = spectra.fourier(spectrum_of)
    order = spectra.order(similarity[:trained, :trained])
    if behind:  # no query looks at what is above the diagonal
        matrix, similarity = np.tril(matrix) if kind == "bias" else matrix, np.tril(similarity)
    # Vectors of offsets begin at -K; those of counts at 0, as positions do.
    first = -((len(matrix) - 1) // 2) if kind == "vectors" and encoding_of(config).numbered else 0
    tiles, tiles_at = _thinned(matrix, 1 if kind in ("table", "angles", "vectors") else 2)
    alike, alike_at = _thinned(similarity, 2)
    dot = None if vectors is None or kind == "vectors" else (vectors[alike_at] @ vectors[alike_at].T).astype(np.float32)
    return Portrait(
        kind=kind,
        matrix=tiles,
        matrix_at=tiles_at + first,
        similarity=alike,
        dot=dot,
        similarity_at=alike_at,
        offsets=offsets,
        profile=profile,
        low=low,
        high=high,
        singular=spectra.singular_values(spectrum_of),
        frequencies=frequencies,
        power=power,
        components=curves[..., curves_at],
        components_at=curves_at + first,
        explained=explained,
        order=order,
        behind=behind,
        trained=trained,
        rows=rows,
    )


def kind_of(config: RunConfig, matrix: Array) -> Kind:
    """By the shape of the matrix and the place where the encoding acts."""
    place = encoding_of(config).acts_on
    if matrix.ndim == 3:
        return "bias"
    return "angles" if place == "rotation" else "vectors" if place == "scores" else "table"


def vectors_of(kind: Kind, matrix: Array) -> Array | None:
    """The vector of each position (of each offset for ``vectors``), [row, dimension]; a bias has none.

    Each angle stands for the unit vector (cos, sin): a dot product is then the sum of the cosines of the differences.
    """
    if kind == "bias":
        return None
    exact = matrix.astype(float)
    return np.concatenate([np.cos(exact), np.sin(exact)], -1) if kind == "angles" else exact


@torch.no_grad()
def effect(config: RunConfig, encoding: PositionalEncoding) -> Effect:
    """Random tokens twice: does what is added stay the same?"""
    length = min(config.seq_len, PROBED)
    at, drawn = range(length), torch.Generator().manual_seed(config.seed)
    first, second = (torch.randn(2, 1, length, config.d_model, generator=drawn) * config.token_init_std).unbind()
    added = [encoding.add_to_embedding(x, at) - x for x in (first, second)]
    heads = (2, 2, 1, config.n_heads, length, config.head_width)
    asked = torch.randn(heads, generator=drawn)
    biases = [encoding.score_bias(q, k, at, at) for q, k in asked]
    bias_differs = biases[0] is not None and biases[1] is not None and not torch.allclose(biases[0], biases[1])
    return Effect(
        on_content=bool(bias_differs or not torch.allclose(added[0], added[1], atol=1e-4)),
        added_scale=added[0].square().mean().sqrt().item(),
        token_scale=config.token_init_std,
    )


def _offsets(rows: int, *, causal: bool) -> Array:
    every = max(1, -(-(2 - causal) * rows // POINTS))
    behind = np.arange(0, rows, every)
    return -behind[::-1] if causal else np.concatenate([-behind[:0:-1], behind])


def _thinned(array: Array, axes: int) -> tuple[Array, Array]:
    """Every k-th place of the last (or of the first, for one axis) so that few enough cells are left, and which they are."""
    length = array.shape[0] if axes == 1 else array.shape[-1]
    every = 1
    while array.size / every**axes > CELLS:
        every += 1
    at = np.arange(0, length, every)
    thin = array[at] if axes == 1 else array[..., ::every, ::every]
    return thin.astype(np.float32), at
