"""Rotary embedding: queries and keys are turned, the pair t of dimensions by the angle i b^(-2t/d_h), so that q_m . k_n
depends on m - n alone.

Source: Su et al. 2021, RoFormer, equations 13 to 16. ``interleaved`` pairs neighbours (2t, 2t+1) as in the paper;
``rotate_half`` pairs (t, t + d_h/2). They agree once the dimensions of q and k are permuted.
How to read beyond the trained length is :mod:`engine.encodings.rope_scaling`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.encodings.base import PositionalEncoding, Positions, constant, index_of
from engine.encodings.rope_scaling import Rotation

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


def angles(positions: Positions, rotation: Rotation) -> Tensor:
    """By how much each pair of dimensions turns, in radians, [position, d_head / 2]."""
    return index_of(positions, torch.device("cpu"))[:, None] * rotation.frequencies(max(positions) + 1)


@constant(keep=16)
def cos_and_sin(
    positions: Positions, rotation: Rotation, layout: str, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """What each dimension and what its partner is multiplied by, [position, d_head] each.

    A pair (a, b) turned by an angle is (a cos - b sin, b cos + a sin).
    """
    turn = angles(positions, rotation)
    axis = -1 if layout == "interleaved" else -2
    cos = torch.stack([turn.cos(), turn.cos()], axis)  # [position, d_head / 2, 2] or [position, 2, d_head / 2]
    sin = torch.stack([-turn.sin(), turn.sin()], axis)
    temperature = rotation.temperature(max(positions) + 1)
    return (temperature * cos).flatten(1).to(device, dtype), (temperature * sin).flatten(1).to(device, dtype)


def partners(t: Tensor, layout: str) -> Tensor:
    """Each pair (a, b) becomes (b, a): [..., d_head] -> the same."""
    if layout == "rotate_half":
        return t.roll(t.shape[-1] // 2, -1)
    return t.reshape(*t.shape[:-1], -1, 2).flip(-1).flatten(-2)  # [..., d_head / 2, 2] -> [..., d_head]


class Rope(PositionalEncoding):
    """Turns queries and keys; nothing learned."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        self.rotation = Rotation(
            config.head_width,
            float(config.value("rope_base")),
            max_positions,
            config.value("rope_scaling"),
            config.value("rope_scale_factor"),
            float(config.value("yarn_alpha")),
            float(config.value("yarn_beta")),
        )
        self.layout = str(config.value("rope_layout"))

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        cos, sin = cos_and_sin(positions, self.rotation, self.layout, t.device, t.dtype)
        return t * cos + partners(t, self.layout) * sin

    def picture(self, length: int) -> dict[str, Tensor]:
        """``similarity``: the mean over pairs of the cosine of the angle between two positions."""
        turn = angles(range(length), self.rotation)
        # cos(a - b) = cos a cos b + sin a sin b, without an array [position, position, pair]
        similarity = (turn.cos() @ turn.cos().T + turn.sin() @ turn.sin().T) / turn.shape[1]
        return {"matrix": turn.float(), "similarity": similarity.float()}
