"""Rotary embedding: queries and keys are turned, the pair t of dimensions by the angle i b^(-2t/d_h), so that q_m . k_n
depends on m - n alone.

Source: Su et al. 2021, RoFormer, equations 13 to 16. ``interleaved`` pairs neighbours (2t, 2t+1) as in the paper;
``rotate_half`` pairs (t, t + d_h/2). They agree once the dimensions of q and k are permuted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.encodings.base import PositionalEncoding, Positions, constant, index_of

if TYPE_CHECKING:
    from engine.config import RunConfig


def angles(positions: Positions, d_head: int, base: float) -> Tensor:
    """By how much each pair of dimensions turns, in radians, [position, d_head / 2]."""
    frequencies = base ** -(torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)
    return index_of(positions, torch.device("cpu"))[:, None] * frequencies


@constant(keep=16)
def cos_and_sin(
    positions: Positions, d_head: int, base: float, layout: str, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """What each dimension and what its partner is multiplied by, [position, d_head] each.

    A pair (a, b) turned by an angle is (a cos - b sin, b cos + a sin).
    """
    turn = angles(positions, d_head, base)
    axis = -1 if layout == "interleaved" else -2
    cos = torch.stack([turn.cos(), turn.cos()], axis)  # [position, d_head / 2, 2] or [position, 2, d_head / 2]
    sin = torch.stack([-turn.sin(), turn.sin()], axis)
    return cos.flatten(1).to(device, dtype), sin.flatten(1).to(device, dtype)


def partners(t: Tensor, layout: str) -> Tensor:
    """Each pair (a, b) becomes (b, a): [..., d_head] -> the same."""
    if layout == "rotate_half":
        return t.roll(t.shape[-1] // 2, -1)
    return t.reshape(*t.shape[:-1], -1, 2).flip(-1).flatten(-2)  # [..., d_head / 2, 2] -> [..., d_head]


class Rope(PositionalEncoding):
    """Turns queries and keys; nothing learned."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        self.d_head = config.head_width
        self.base = float(config.value("rope_base"))
        self.layout = str(config.value("rope_layout"))

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        cos, sin = cos_and_sin(positions, self.d_head, self.base, self.layout, t.device, t.dtype)
        return t * cos + partners(t, self.layout) * sin

    def picture(self, length: int) -> dict[str, Tensor]:
        """``similarity``: the mean over pairs of the cosine of the angle between two positions."""
        turn = angles(range(length), self.d_head, self.base)
        similarity = (turn[:, None] - turn[None, :]).cos().mean(-1)
        return {"matrix": turn.float(), "similarity": similarity.float()}
