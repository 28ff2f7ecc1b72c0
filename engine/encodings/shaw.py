"""Relative position vectors: e_ij = q_i . (k_j + a^K[c]) / sqrt(d_h) and z_i = sum_j alpha_ij (v_j + a^V[c]),
with c = clip(j - i, -K, K).

Source: Shaw et al. 2018, Self-Attention with Relative Position Representations, equations 3 to 5. All heads of a layer
share the vectors, as in the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from engine.encodings.base import PositionalEncoding, Positions, constant, cosines, offsets

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


@constant(keep=16)
def clipped_offsets(
    query_positions: Positions, key_positions: Positions, furthest: int, device: torch.device
) -> Tensor:
    """Row of the relative vectors for each pair: clip(j - i, -K, K) + K, [query, key]."""
    return offsets(query_positions, key_positions, device).clamp(-furthest, furthest) + furthest


class Shaw(PositionalEncoding):
    """A vector for each offset, added to the keys and, where asked, to the values."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        self.furthest = int(config.value("shaw_max_distance"))
        self.uses_pattern = bool(config.value("shaw_values"))
        rows = 2 * self.furthest + 1
        self.relative_keys = nn.Parameter(torch.empty(rows, config.head_width))
        nn.init.xavier_uniform_(self.relative_keys)
        if self.uses_pattern:
            self.relative_values = nn.Parameter(torch.empty(rows, config.head_width))
            nn.init.xavier_uniform_(self.relative_values)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        rows = clipped_offsets(query_positions, key_positions, self.furthest, q.device)
        by_row = q @ self.relative_keys.T  # [batch, head, query, 2K + 1]
        return by_row.gather(-1, rows.expand(*q.shape[:2], -1, -1))  # [batch, head, query, key]

    def value_term(self, pattern: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        if not self.uses_pattern:
            return None
        rows = clipped_offsets(query_positions, key_positions, self.furthest, pattern.device)
        by_row = pattern.new_zeros(*pattern.shape[:3], len(self.relative_values))  # [batch, head, query, 2K + 1]
        return by_row.scatter_add(-1, rows.expand_as(pattern), pattern) @ self.relative_values

    def picture(self, length: int) -> dict[str, Tensor]:
        """``matrix``: the relative keys [offset from -K to K, d_head]; ``similarity`` [query, key]: cosine of each
        pair's vector with the vector of offset 0."""
        rows = self.relative_keys.detach().float().cpu()
        pairs = clipped_offsets(range(length), range(length), self.furthest, torch.device("cpu"))
        return {"matrix": rows, "similarity": cosines(rows)[self.furthest][pairs]}
