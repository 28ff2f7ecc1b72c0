"""Rotation with decay: q_i . k_j as in RoPE, and pair t of dimensions also shrinks by zeta_t^(|i - j| / B) with distance.

Source: Sun et al. 2022, A Length-Extrapolatable Transformer, section 2.2 and algorithm 1: queries are multiplied by
zeta^(i / B), keys by zeta^(-j / B), zeta_t = (2t / d_h + gamma) / (1 + gamma), gamma .4 and B 512.

That factors for keys before the query only: for those after it the product zeta^((i - j) / B) grows, which is why the paper (and
the well-known libraries) keep it to causal stacks. Looking both ways, the scores of keys after the query are here computed
once more with the factors exchanged: |i - j|, at the price of a second product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.encodings.base import PositionalEncoding, Positions, constant, index_of, offsets
from engine.encodings.rope import angles, cos_and_sin, partners
from engine.encodings.rope_scaling import Rotation

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig

CPU = torch.device("cpu")


def decay_rates(d_head: int, gamma: float, base: float) -> Tensor:
    """log zeta_t / B: what each pair shrinks by a position, as a logarithm below zero, in float64, [d_head / 2]."""
    return ((torch.arange(0, d_head, 2, dtype=torch.float64) / d_head + gamma) / (1 + gamma)).log() / base


@constant(keep=16)
def growth(
    positions: Positions, d_head: int, gamma: float, base: float, power: int, layout: str, device: torch.device,
    dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    """zeta^(power i / B), [position, d_head], for both dimensions of a pair."""
    pairs = (power * index_of(positions, CPU)[:, None] * decay_rates(d_head, gamma, base)).exp()
    axis = -1 if layout == "interleaved" else -2
    return (
        torch.stack([pairs, pairs], axis).flatten(1).to(device, dtype)
    )  # [position, d_head / 2, 2] or [.., 2, d_head / 2]


class Xpos(PositionalEncoding):
    """Turns queries and keys and makes far products small; nothing learned."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        self.rotation = Rotation(config.head_width, float(config.value("rope_base")), max_positions)
        self.layout = str(config.value("rope_layout"))
        self.gamma, self.base = float(config.value("xpos_gamma")), float(config.value("xpos_scale_base"))
        both_ways = not (config.causal if causal is None else causal)
        # An additive score is no product of query and key: nothing in it decays.
        self.mends_keys_after = both_ways and config.attention_score != "additive"

    def _growth(self, t: Tensor, positions: Positions, power: int) -> Tensor:
        """[position, d_head]"""
        return growth(positions, t.shape[-1], self.gamma, self.base, power, self.layout, t.device, t.dtype)

    def _turn(self, t: Tensor, positions: Positions) -> Tensor:
        cos, sin = cos_and_sin(positions, self.rotation, self.layout, t.device, t.dtype)
        return t * cos + partners(t, self.layout) * sin

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        return self._turn(t, positions) * self._growth(t, positions, 1)

    def rotate_keys(self, k: Tensor, positions: Positions) -> Tensor:
        return self._turn(k, positions) * self._growth(k, positions, -1)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        """Looking both ways: for keys after the query, the score as it should be less the one that grew."""
        if not self.mends_keys_after:
            return None
        exchanged = (q * self._growth(q, query_positions, -2)) @ (k * self._growth(k, key_positions, 2)).mT
        after = offsets(query_positions, key_positions, q.device) > 0
        return (exchanged - q @ k.mT).masked_fill(~after, 0.0)

    def picture(self, length: int) -> dict[str, Tensor]:
        """``similarity``: the mean over pairs of the cosine of the angle between two positions, times its decay."""
        turn = angles(range(length), self.rotation)
        shrunk = (torch.arange(length)[:, None] * decay_rates(self.rotation.d_head, self.gamma, self.base)).exp()
        by_distance = (turn.cos() * shrunk).mean(-1)  # the first row is at angle zero
        similarity = by_distance[offsets(range(length), range(length), torch.device("cpu")).abs()]
        return {"matrix": turn.float(), "similarity": similarity.float()}
