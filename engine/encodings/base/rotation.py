"""Rotations of queries and keys by their positions, shared by the encodings that rotate (RoPE, xPos, a design).

Pair t of the d_head dimensions of the vector at position i is rotated by the angle i theta_t, theta_t = b^(-2t / d_head)
(Su et al. 2021, RoFormer, equation 15). Two layouts say which dimensions form pair t: ``interleaved`` takes the neighbours
(2t, 2t + 1) as in the paper, ``rotate_half`` takes (t, t + d_head / 2).
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from engine.encodings.base.layer import Positions, cached_by_positions, index_of

Layout = Literal["interleaved", "rotate_half"]


def geometric_frequencies(width: int, base: float) -> Tensor:
    """Radians per position of each pair t of dimensions, base^(-2t / width): [width / 2], float64."""
    return base ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)


@dataclass(frozen=True)
class Rotation:
    """The rotation frequency of each pair of dimensions. Hashable, so that results can be cached by it.

    :class:`engine.encodings.rope.layer.ScaledRotation` slows the rotation of sequences longer than trained.
    """

    d_head: int
    base: float

    def frequencies(self, length: int) -> Tensor:
        """Radians per position of each pair for a sequence that ends at ``length``, in float64, [d_head / 2]."""
        return geometric_frequencies(self.d_head, self.base)

    def temperature(self, length: int) -> float:
        return 1.0


def angles(positions: Positions, rotation: Rotation) -> Tensor:
    """The angle of each pair at each position, in radians, [position, d_head / 2]."""
    return index_of(positions, torch.device("cpu"))[:, None] * rotation.frequencies(max(positions) + 1)


@cached_by_positions(maxsize=16)
def cos_and_sin(
    positions: Positions, rotation: Rotation, layout: Layout, device: torch.device, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """The factor of each dimension and the factor of its partner, [position, d_head] each.

    A pair (a, b) rotated by an angle is (a cos - b sin, b cos + a sin).
    """
    turn = angles(positions, rotation)
    axis = -1 if layout == "interleaved" else -2
    cos = torch.stack([turn.cos(), turn.cos()], axis)  # [position, d_head / 2, 2] or [position, 2, d_head / 2]
    sin = torch.stack([-turn.sin(), turn.sin()], axis)
    temperature = rotation.temperature(max(positions) + 1)
    return (temperature * cos).flatten(1).to(device, dtype), (temperature * sin).flatten(1).to(device, dtype)


def partners(t: Tensor, layout: Layout) -> Tensor:
    """Exchange the two dimensions of every pair, (a, b) -> (b, a): [..., d_head] -> the same."""
    if layout == "rotate_half":
        return t.roll(t.shape[-1] // 2, -1)
    return t.reshape(*t.shape[:-1], -1, 2).flip(-1).flatten(-2)  # [..., d_head / 2, 2] -> [..., d_head]


def angle_matrices(turn: Tensor) -> dict[str, Tensor]:
    """The matrices of an encoding that rotates by the angles ``turn`` [position, d_head / 2]; similarity is the mean over pairs of the
    cosine of the angle between two positions."""
    # cos(a - b) = cos a cos b + sin a sin b, without an array [position, position, pair]
    similarity = (turn.cos() @ turn.cos().T + turn.sin() @ turn.sin().T) / turn.shape[1]
    return {"matrix": turn.float(), "similarity": similarity.float()}


def rotated(t: Tensor, positions: Positions, rotation: Rotation, layout: Layout) -> Tensor:
    """Queries or keys [batch, head, position, d_head], rotated by their positions."""
    cos, sin = cos_and_sin(positions, rotation, layout, t.device, t.dtype)
    return t * cos + partners(t, layout) * sin
