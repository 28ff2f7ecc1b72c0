"""xPos, a rotation with decay: q_i . k_j as in RoPE, and pair t of dimensions also shrinks by zeta_t^(|i - j| / B) with distance.

Source: Sun et al. 2022, A Length-Extrapolatable Transformer, section 2.2 and algorithm 1: queries are multiplied by zeta^(i / B), keys by
zeta^(-j / B), zeta_t = (2t / d_h + gamma) / (1 + gamma), gamma .4 and B 512.

The two factors give this decay only for keys before the query. For later keys the product zeta^((i - j) / B) grows, so the paper (and
the well-known libraries) use xPos in causal stacks only. In both directions, the scores of keys after the query are here computed
once more with the factors exchanged: |i - j|, at the price of a second product.
"""

import torch
from torch import Tensor

from engine.encodings.base.layer import PositionalEncoding, Positions, cached_by_positions, index_of, offsets
from engine.encodings.base.rotation import Layout, Rotation, angles, rotated
from engine.encodings.xpos import XposSettings
from engine.settings.base import BaseConfig

CPU = torch.device("cpu")


def decay_rates(d_head: int, gamma: float, base: float) -> Tensor:
    """log zeta_t / B, the logarithm (below zero) of the factor of pair t for each position, in float64, [d_head / 2]."""
    return ((torch.arange(0, d_head, 2, dtype=torch.float64) / d_head + gamma) / (1 + gamma)).log() / base


@cached_by_positions(maxsize=16)
def growth(
    positions: Positions, d_head: int, gamma: float, base: float, power: int, layout: Layout, device: torch.device,
    dtype: torch.dtype,
) -> Tensor:  # fmt: skip
    """zeta^(power i / B) for both dimensions of each pair, [position, d_head]."""
    pairs = (power * index_of(positions, CPU)[:, None] * decay_rates(d_head, gamma, base)).exp()
    axis = -1 if layout == "interleaved" else -2
    both = torch.stack([pairs, pairs], axis)  # [position, d_head / 2, 2] or [position, 2, d_head / 2]
    return both.flatten(1).to(device, dtype)


class Xpos(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: XposSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.rotation = Rotation(config.head_width, settings.rope_base)
        self.layout = settings.rope_layout
        self.gamma, self.base = settings.xpos_gamma, settings.xpos_scale_base
        # An additive score is no product of query and key: nothing in it decays.
        self.mends_keys_after = not causal and config.attention_score != "additive"

    def _growth(self, t: Tensor, positions: Positions, power: int) -> Tensor:
        """The factors of ``t`` [..., position, d_head], [position, d_head]."""
        return growth(positions, t.shape[-1], self.gamma, self.base, power, self.layout, t.device, t.dtype)

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        return rotated(t, positions, self.rotation, self.layout) * self._growth(t, positions, 1)

    def rotate_keys(self, k: Tensor, positions: Positions) -> Tensor:
        return rotated(k, positions, self.rotation, self.layout) * self._growth(k, positions, -1)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        """The right score less the one that grew, for keys after the query; None in a causal stack."""
        if not self.mends_keys_after:
            return None
        exchanged = (q * self._growth(q, query_positions, -2)) @ (k * self._growth(k, key_positions, 2)).mT
        after = offsets(query_positions, key_positions, q.device) > 0
        return (exchanged - q @ k.mT).masked_fill(~after, 0.0)

    def matrices(self, length: int) -> dict[str, Tensor]:
        """``similarity``: the mean over pairs of the cosine of the angle between two positions, times its decay."""
        turn = angles(range(length), self.rotation)
        shrunk = (torch.arange(length)[:, None] * decay_rates(self.rotation.d_head, self.gamma, self.base)).exp()
        by_distance = (turn.cos() * shrunk).mean(-1)  # the first row is at angle zero
        similarity = by_distance[offsets(range(length), range(length), torch.device("cpu")).abs()]
        return {"matrix": turn.float(), "similarity": similarity.float()}
