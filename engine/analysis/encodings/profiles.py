import numpy as np
import torch

from engine.analysis.encodings import distances
from engine.analysis.encodings.jobs import Lines, Matrices, MatrixKind, Profile
from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, matrices_of
from engine.model.layers import positional_encoding

PROBE_POSITIONS = 16  # positions at which the size of the values added to tokens is measured
Array = np.ndarray
MAX_CELLS = 16_000  # cells of one matrix; redrawing more is noticeably slow
POINTS = 250  # points of a line; a figure is some 300 pixels wide


def matrices(config: RunConfig, n_positions: int) -> Matrices:
    arrays, rows = matrices_of(first_weights(config), n_positions)
    return thinned_matrices(config, arrays, config.seq_len, rows)


def profile(config: RunConfig, n_positions: int) -> Profile:
    """The profile of initial weights drawn from the config's seed.

    The trained length is ``config.seq_len``; the profile covers ``n_positions``, or as many as there are rows.
    """
    encoding = first_weights(config)
    arrays, rows = matrices_of(encoding, n_positions)
    drawn = thinned_matrices(config, arrays, config.seq_len, rows)
    lines = lines_of(config, arrays, min(config.seq_len, rows))
    return Profile(**drawn, **lines, added_scale=added_scale(config, encoding))


def first_weights(config: RunConfig) -> PositionalEncoding:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(config.seed)
        return positional_encoding(config, max_positions=config.seq_len, causal=config.causal).eval()


@torch.no_grad()
def added_scale(config: RunConfig, encoding: PositionalEncoding) -> float:
    length, drawn = min(config.seq_len, PROBE_POSITIONS), torch.Generator().manual_seed(config.seed)
    tokens = torch.randn(1, length, config.d_model, generator=drawn) * config.token_init_std
    return (encoding.add_to_embedding(tokens, range(length)) - tokens).square().mean().sqrt().item()


def thinned_matrices(config: RunConfig, arrays: dict[str, Array], trained: int, rows: int) -> Matrices:
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
    """``trained``: the number of positions that training reaches and the encoding has."""
    matrix, similarity = arrays["matrix"], arrays["similarity"].astype(float)
    kind = kind_of(config, matrix)
    offsets = _offsets(len(similarity), causal=_looks_back(config, matrix))
    profile, low, high = distances.by_offset(matrix if kind == "bias" else similarity[None], offsets)
    order = distances.order(similarity[:trained, :trained])
    return {"offsets": offsets, "profile": profile, "low": low, "high": high, "order": order}


def kind_of(config: RunConfig, matrix: Array) -> MatrixKind:
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
    return config.causal and kind_of(config, matrix) in ("bias", "vectors")


def _first_row(config: RunConfig, matrix: Array) -> int:
    """The offset or position of row 0: vectors of offsets begin at -K; those of counts at 0, as positions do."""
    of_offsets = kind_of(config, matrix) == "vectors" and config.encoding.numbered
    return -((len(matrix) - 1) // 2) if of_offsets else 0


def _offsets(rows: int, *, causal: bool) -> Array:
    every = max(1, -(-(2 - causal) * rows // POINTS))
    back = np.arange(0, rows, every)
    return -back[::-1] if causal else np.concatenate([-back[:0:-1], back])


def _thinned(array: Array, axes: int) -> tuple[Array, Array]:
    """Every k-th entry of the last axis (of the first, for one axis) so that few enough cells remain; and their indices."""
    length = array.shape[0] if axes == 1 else array.shape[-1]
    every = 1
    while array.size / every**axes > MAX_CELLS:
        every += 1
    at = np.arange(0, length, every)
    thin = array[at] if axes == 1 else array[..., ::every, ::every]
    return thin.astype(np.float32), at
