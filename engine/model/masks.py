"""Attention masks: the causal mask, three ways to get it wrong, and the mask of padding."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from engine.encodings.base.layer import cached_by_positions, wait_for_side_stream

# the allowed pairs, by mask fault, given positions [query, 1] and [1, key]
CAUSAL: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "none": lambda query, key: key <= query,
    "missing": lambda query, key: torch.ones_like(key <= query),
    "transposed": lambda query, key: key >= query,
    "off_by_one": lambda query, key: key <= query + 1,
}


@dataclass(frozen=True)
class Mask:
    # true for a key that a query may see, broadcastable to [batch, head, query, key]
    allowed: Callable[[], Tensor]
    dtype: torch.dtype
    triangle: bool = False  # exactly the causal triangle, which a fused kernel applies without a matrix

    # made on first use: a fused kernel needs no matrix for a causal triangle, and matrices grow with the square of the length
    @cached_property
    def blocked(self) -> Tensor:
        """True for a blocked pair, broadcastable to [batch, head, query, key]."""
        with torch.inference_mode(False):  # what was first needed for a plot is next needed for training
            allowed = self.allowed()
            # A query that may see no key is padding; let it see all keys, since softmax needs a finite score.
            blocked = ~(allowed | ~allowed.any(-1, keepdim=True))
            wait_for_side_stream()
            return blocked

    @cached_property
    def bias(self) -> Tensor:
        """0 for an allowed pair; for a blocked one so far below every score that softmax gives exactly 0."""
        with torch.inference_mode(False):
            zeros = torch.zeros_like(self.blocked, dtype=self.dtype)
            # finite, so that no row and no column can turn into NaN
            bias = zeros.masked_fill(self.blocked, torch.finfo(self.dtype).min / 2)
            wait_for_side_stream()
            return bias


@cached_by_positions(maxsize=16)
def _allowed(length: int, fault: str, device: torch.device) -> Tensor:
    """True for an allowed pair, [query, key]."""
    positions = torch.arange(length, device=device)
    return CAUSAL[fault](positions[:, None], positions[None, :])


@cached_by_positions(maxsize=16)
def _causal(length: int, fault: str, device: torch.device, dtype: torch.dtype) -> Mask:
    return Mask(lambda: _allowed(length, fault, device), dtype, triangle=fault == "none")


def forget_masks() -> None:
    # those of very long sequences are large
    for remembered in (_allowed, _causal):
        remembered.cache_clear()


def causal_mask(
    length: int, fault: str, token_mask: Tensor | None, device: torch.device, dtype: torch.dtype
) -> Mask | None:
    """None if every query may see every key. ``token_mask`` [batch, key] is True for a real token."""
    if token_mask is not None:  # [batch, key] -> [batch, 1, query, key]
        return Mask(lambda: _allowed(length, fault, device) & token_mask[:, None, None, :], dtype)
    return None if fault == "missing" else _causal(length, fault, device, dtype)


def padding_mask(token_mask: Tensor | None, dtype: torch.dtype) -> Mask | None:
    """A mask that lets every query see the keys at real tokens: [batch, key] -> [batch, 1, 1, key]; None without a token mask."""
    return None if token_mask is None else Mask(lambda: token_mask[:, None, None, :], dtype)
