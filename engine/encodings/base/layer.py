"""The base class of all positional encodings: a torch module with one hook for each place where an encoding can act.

Also the functions of positions that several encodings share. Letters in the shapes and equations of all encodings:

=============  ===================================================================
batch          sequences side by side
length, n      positions of a sequence, i of a query and j of a key
d_model, d     the width of the stream that embeddings and layers add to
head, H        attention heads
d_head, d_h    the width of one head; a rotation has d_h / 2 pairs, numbered by t
query, key     positions that read, and positions that are read
q, k, v        queries, keys and values, [batch, head, length, d_head]
scores         q . k / sqrt(d_h) before the softmax, [batch, head, query, key]
pattern        the weights after it, of the same shape; each row sums to 1,
               or to less with softmax plus one
=============  ===================================================================
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Generic, ParamSpec, TypeAlias, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

# Positions of a sequence's tokens. Hashable, so that a result that depends on positions alone is computed once.
Positions: TypeAlias = range | tuple[int, ...]

P = ParamSpec("P")
T = TypeVar("T")


class PositionCache(Generic[P, T]):
    """A function of positions, lengths and other hashable values that remembers its last ``maxsize`` results until ``cache_clear``."""

    def __init__(self, compute: Callable[P, T], maxsize: int) -> None:
        def compute_and_wait(*args: P.args, **kwargs: P.kwargs) -> T:
            result = compute(*args, **kwargs)
            wait_for_side_stream()
            return result

        # outside inference mode: a tensor first needed for a plot may next be needed in training
        self._remembered = lru_cache(maxsize=maxsize)(torch.inference_mode(False)(compute_and_wait))
        self.cache_clear = self._remembered.cache_clear

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        result = self._remembered(*args, **kwargs)  # type: ignore[arg-type]
        if (results := _RESULTS.get()) is not None:
            results.append(result)
        return result


def cached_by_positions(*, maxsize: int) -> Callable[[Callable[P, T]], PositionCache[P, T]]:
    return lambda compute: PositionCache(compute, maxsize)


def wait_for_side_stream() -> None:
    # a GPU may not have made yet what it was just asked for
    used: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    # runs on other streams will read it, and nothing else waits for this one
    if used and not torch.cuda.is_current_stream_capturing():
        torch.cuda.current_stream().synchronize()


_RESULTS = ContextVar[list[object] | None]("results", default=None)


@contextmanager
def keeping_alive() -> Iterator[list[object]]:
    """Collect all that remembered functions return inside the block. These tensors live as long as the list, also when they are no
    longer among the last results."""
    results: list[object] = []
    before = _RESULTS.set(results)
    try:
        yield results
    finally:
        _RESULTS.reset(before)


class PositionOutOfRange(ValueError):
    def __init__(self, position: int, rows: int) -> None:
        self.position, self.rows = position, rows
        super().__init__(f"Position {position + 1} has no row: the learned table ends at position {rows}.")


class PositionalEncoding(nn.Module):
    """The identity at every hook. Each encoding overrides the hooks of the place where it acts.

    A subclass is built as ``Class(config, settings, *, max_positions, causal)``: the plain settings of the run, those of the encoding,
    the number of positions met in training, and true if the stack attends to earlier positions only.
    """

    needs_pattern = False
    """True if ``value_term`` reads the attention pattern, so that no fused kernel can be used. Equal to
    :attr:`engine.encodings.base.EncodingSettings.needs_pattern`."""

    # earlier tokens that add_to_embedding reads for each token: a key-value cache must keep these
    reads_before = 0

    @property
    def device(self) -> torch.device:
        # an encoding with a device has at least one tensor
        tensors: dict[str, Tensor] = self.state_dict()
        return next(iter(tensors.values())).device

    def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:
        """Add the encoding to token embeddings, [batch, length, d_model] -> the same.

        ``token_mask`` [batch, length] is True for a real token. An encoding that reads neighbouring tokens reads zeros elsewhere.
        """
        return x

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        """Rotate queries (and keys, unless ``rotate_keys`` is overridden), [batch, head, length, d_head] -> the same."""
        return t

    def rotate_keys(self, k: Tensor, positions: Positions) -> Tensor:
        """Rotated keys, [batch, head, length, d_head] -> the same."""
        return self.rotate(k, positions)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        """The bias added to the scores before softmax, broadcastable to [batch, head, query, key].

        ``q`` and ``k`` [batch, head, position, d_head] are as they enter the product: ``q`` is already scaled.
        """
        return None

    def value_term(self, pattern: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        """The term added to the weighted values, [batch, head, query, d_head], given the pattern [batch, head, query, key]."""
        return None

    def added_frequencies(self) -> Tensor | None:
        """Radians per position of the fixed waves that the encoding adds to the embedding, [wave], float64; None if it adds something
        else or nothing."""
        return None

    def matrices(self, length: int) -> dict[str, Tensor]:
        """The encoding of positions 0 to length - 1 as matrices to plot.

        ``matrix``: rows [position, d_model], a bias [head, query, key], or angles [position, d_head / 2]. ``similarity`` of two
        positions, [position, position].

        Raises PositionOutOfRange if a learned table has fewer rows.
        """
        raise NotImplementedError


class AddedRows(PositionalEncoding):
    def rows(self, positions: Positions) -> Tensor:
        """The rows, [position, d_model]. Raises PositionOutOfRange."""
        raise NotImplementedError

    def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:
        return x + self.rows(positions).to(x.dtype)

    def matrices(self, length: int) -> dict[str, Tensor]:
        return row_matrices(self.rows(range(length)))


@torch.no_grad()
def matrices_of(encoding: PositionalEncoding, positions: int) -> tuple[dict[str, np.ndarray], int]:
    """The encoding's matrices as float32 arrays, and the number of positions in them: fewer than ``positions`` if a learned table ends."""
    try:
        matrices, rows = encoding.matrices(positions), positions
    except PositionOutOfRange as end:
        matrices, rows = encoding.matrices(end.rows), end.rows
    return {name: value.float().cpu().numpy().astype(np.float32) for name, value in matrices.items()}, rows


def cosines(rows: Tensor) -> Tensor:
    """The cosine of every row with every other, [row, row]; 0 if a row is zero."""
    units = nn.functional.normalize(rows, dim=-1)
    return units @ units.T


def row_matrices(rows: Tensor) -> dict[str, Tensor]:
    """The matrices of an encoding that adds ``rows`` [position, d_model] to the embedding."""
    rows = rows.detach().float().cpu()
    return {"matrix": rows, "similarity": cosines(rows)}


def bias_matrices(bias: Tensor) -> dict[str, Tensor]:
    """The matrices of an encoding that adds ``bias`` [head, query, key] to the scores; similarity is its mean over the heads."""
    bias = bias.detach().float().cpu()
    return {"matrix": bias, "similarity": bias.mean(0)}


@cached_by_positions(maxsize=64)
def index_of(positions: Positions, device: torch.device) -> Tensor:
    """The positions as whole numbers, [length]."""
    return torch.tensor(positions, device=device)


def index_below(end: int | None, positions: Positions, device: torch.device) -> Tensor:
    """:func:`index_of` positions in a table with ``end`` rows; None: without an end. Raises PositionOutOfRange."""
    if end is not None and max(positions) >= end:
        raise PositionOutOfRange(max(positions), end)
    return index_of(positions, device)


@cached_by_positions(maxsize=16)
def offsets(query_positions: Positions, key_positions: Positions, device: torch.device) -> Tensor:
    """The offset j - i of each key j from each query i, [query, key]."""
    return index_of(key_positions, device)[None, :] - index_of(query_positions, device)[:, None]
