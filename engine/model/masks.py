"""Who may look at whom: the causal mask, three ways to get it wrong, and padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.encodings.base import constant

CAUSAL: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "none": lambda query, key: key <= query,
    "missing": lambda query, key: torch.ones_like(key <= query),
    "transposed": lambda query, key: key >= query,
    "off_by_one": lambda query, key: key <= query + 1,
}
"""What a query may see, by mask fault, given positions [query, 1] and [1, key]."""


@dataclass(frozen=True)
class Mask:
    """Which pairs are blocked; both tensors broadcast to [batch, head, query, key]."""

    blocked: Tensor
    bias: Tensor
    """0 where allowed, so far below every score where blocked that softmax gives exactly 0 (finite, so that no row and
    no column can turn into NaN)."""
    triangle: bool = False
    """Exactly the causal triangle, which a fused kernel knows without a mask."""


def _mask(allowed: Tensor, dtype: torch.dtype, *, triangle: bool = False) -> Mask:
    # A query that may see nothing stands in padding: it may see everything, since softmax needs one score.
    blocked = ~(allowed | ~allowed.any(-1, keepdim=True))
    bias = torch.zeros_like(blocked, dtype=dtype).masked_fill(blocked, torch.finfo(dtype).min / 2)
    return Mask(blocked, bias, triangle)


@constant(keep=16)
def _allowed(length: int, fault: str, device: torch.device) -> Tensor:
    """[query, key]"""
    places = torch.arange(length, device=device)
    return CAUSAL[fault](places[:, None], places[None, :])


@constant(keep=16)
def _causal(length: int, fault: str, device: torch.device, dtype: torch.dtype) -> Mask:
    return _mask(_allowed(length, fault, device), dtype, triangle=fault == "none")


def causal_mask(
    length: int, fault: str, padding: Tensor | None, device: torch.device, dtype: torch.dtype
) -> Mask | None:
    """The mask of a decoder's self-attention; ``padding`` [batch, key] is True where a real token stands.

    None where everything may be seen.
    """
    if padding is not None:
        return _mask(_allowed(length, fault, device) & padding[:, None, None, :], dtype)  # [batch, 1, query, key]
    return None if fault == "missing" else _causal(length, fault, device, dtype)


def padding_mask(padding: Tensor | None, dtype: torch.dtype) -> Mask | None:
    """The mask of keys that may be seen from everywhere, or None; [batch, key] -> [batch, 1, 1, key]."""
    return None if padding is None else _mask(padding[:, None, None, :], dtype)
