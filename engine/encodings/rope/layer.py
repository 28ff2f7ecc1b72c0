"""RoPE, rotary position embedding: queries and keys are rotated, pair t of the dimensions by the angle i b^(-2t/d_h) at position
i, so that q_m . k_n depends on m - n alone.

Source: Su et al. 2021, RoFormer, equations 13 to 16. ``interleaved`` pairs neighbours (2t, 2t+1) as in the paper;
``rotate_half`` pairs (t, t + d_h/2). They agree once the dimensions of q and k are permuted. The rotation itself is in
:mod:`engine.encodings.rotation`, reading beyond the trained length in :mod:`engine.encodings.rope.scaling`.
"""

from __future__ import annotations

from torch import Tensor

from engine.encodings.layer import PositionalEncoding, Positions
from engine.encodings.rope.scaling import ScaledRotation
from engine.encodings.rope.spec import RopeSettings
from engine.encodings.rotation import angles, rotated
from engine.settings.base import BaseConfig


class Rope(PositionalEncoding):
    """Rotates queries and keys; nothing is learned."""

    def __init__(self, config: BaseConfig, own: RopeSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.rotation = ScaledRotation(
            config.head_width,
            own.rope_base,
            trained=max_positions,
            scaling=own.rope_scaling,
            factor=own.rope_scale_factor,
            alpha=own.yarn_alpha,
            beta=own.yarn_beta,
        )
        self.layout = own.rope_layout

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        return rotated(t, positions, self.rotation, self.layout)

    def matrices(self, length: int) -> dict[str, Tensor]:
        """``similarity``: the mean over pairs of the cosine of the angle between two positions."""
        turn = angles(range(length), self.rotation)
        # cos(a - b) = cos a cos b + sin a sin b, without an array [position, position, pair]
        similarity = (turn.cos() @ turn.cos().T + turn.sin() @ turn.sin().T) / turn.shape[1]
        return {"matrix": turn.float(), "similarity": similarity.float()}
