"""What every positional encoding is: a module with one hook for each place where an encoding can act."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

Positions: TypeAlias = range | tuple[int, ...]
"""Where the tokens of a sequence stand. Hashable, so that what depends on positions alone is computed once."""

P = ParamSpec("P")
T = TypeVar("T")


def constant(*, keep: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Remember the last ``keep`` results of a function of positions.

    Leaves inference mode, since what was first needed for a picture is next needed for training.
    """
    return lambda compute: lru_cache(maxsize=keep)(torch.inference_mode(False)(compute))  # type: ignore[return-value]


class NoRow(ValueError):
    """A position lies beyond the last row of a learned table."""

    def __init__(self, position: int, rows: int) -> None:
        self.position, self.rows = position, rows
        super().__init__(f"Position {position} has no row: the learned table ends at position {rows - 1}.")


class PositionalEncoding(nn.Module):
    """No encoding; each subclass overrides the hooks of the place where it acts.

    Subclasses are built as ``Class(config, max_positions=..., causal=...)``: the longest length trained, and whether
    the stack looks backwards only (by default, as the config's family does).
    """

    uses_pattern = False
    """Whether ``value_term`` needs the attention pattern, which a fused kernel never writes out."""

    reads_before = 0
    """How many earlier tokens ``add_to_embedding`` reads for each: what a cache has to keep."""

    def add_to_embedding(self, x: Tensor, positions: Positions, padding: Tensor | None = None) -> Tensor:
        """[batch, length, d_model] -> the same, with the positions added.

        ``padding`` [batch, length] is True where a real token stands; what reads neighbours reads zeros elsewhere.
        """
        return x

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        """Queries, and unless ``rotate_keys`` differs keys, [batch, head, length, d_head] -> the same, turned."""
        return t

    def rotate_keys(self, k: Tensor, positions: Positions) -> Tensor:
        """Keys [batch, head, length, d_head] -> the same, turned by their positions."""
        return self.rotate(k, positions)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        """What is added to the scores, broadcastable to [batch, head, query, key].

        ``q`` and ``k`` [batch, head, position, d_head] are as they enter the product: ``q`` is scaled already.
        """
        return None

    def value_term(self, pattern: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        """What is added to the weighted values, [batch, head, query, d_head], given [batch, head, query, key]."""
        return None

    def picture(self, length: int) -> dict[str, Tensor]:
        """The encoding of positions 0 to length - 1, for people.

        ``matrix``: a table [position, d_model], a bias [head, query, key], or angles [position, d_head / 2].
        ``similarity``: [position, position], how alike two positions look.
        """
        raise NotImplementedError


def cosines(rows: Tensor) -> Tensor:
    """Cosine of every row with every other, [row, row]; 0 where a row is zero."""
    units = nn.functional.normalize(rows, dim=-1)
    return units @ units.T


def rows_picture(rows: Tensor) -> dict[str, Tensor]:
    """The picture of rows [position, d_model] that are added to the embedding."""
    rows = rows.detach().float().cpu()
    return {"matrix": rows, "similarity": cosines(rows)}


def bias_picture(bias: Tensor) -> dict[str, Tensor]:
    """The picture of a bias [head, query, key]: its mean over the heads is how alike two positions look."""
    bias = bias.detach().float().cpu()
    return {"matrix": bias, "similarity": bias.mean(0)}


@constant(keep=64)
def index_of(positions: Positions, device: torch.device) -> Tensor:
    """The positions as a tensor, [length]."""
    return torch.tensor(positions, device=device)


@constant(keep=16)
def offsets(query_positions: Positions, key_positions: Positions, device: torch.device) -> Tensor:
    """How far each key stands after each query, j - i, [query, key]."""
    return index_of(key_positions, device)[None, :] - index_of(query_positions, device)[:, None]
