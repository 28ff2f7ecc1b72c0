"""Shaw's relative position vectors: e_ij = q_i . (k_j + a^K[c]) / sqrt(d_h) and z_i = sum_j alpha_ij (v_j + a^V[c]),
with c = clip(j - i, -K, K).

Source: Shaw et al. 2018, Self-Attention with Relative Position Representations, equations 3 to 5. All heads of a layer
share the vectors, as in the paper.
"""

import torch
from torch import Tensor, nn

from engine.encodings.base.layer import PositionalEncoding, Positions, cached_by_positions, cosines, offsets
from engine.encodings.shaw import ShawSettings
from engine.settings.base import BaseConfig


@cached_by_positions(maxsize=16)
def clipped_offsets(
    query_positions: Positions, key_positions: Positions, max_distance: int, device: torch.device
) -> Tensor:
    """The row of the table of vectors for each pair, clip(j - i, -K, K) + K, [query, key]."""
    return offsets(query_positions, key_positions, device).clamp(-max_distance, max_distance) + max_distance


class Shaw(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: ShawSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.max_distance = settings.shaw_max_distance
        self.needs_pattern = settings.needs_pattern
        self.relative_keys = nn.Parameter(torch.empty(settings.vectors, config.head_width))
        nn.init.xavier_uniform_(self.relative_keys)
        if self.needs_pattern:
            self.relative_values = nn.Parameter(torch.empty(settings.vectors, config.head_width))
            nn.init.xavier_uniform_(self.relative_values)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        rows = clipped_offsets(query_positions, key_positions, self.max_distance, q.device)
        by_row = q @ self.relative_keys.T  # [batch, head, query, 2K + 1]
        return by_row.gather(-1, rows.expand(*q.shape[:2], -1, -1))  # [batch, head, query, key]

    def value_term(self, pattern: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        if not self.needs_pattern:
            return None
        rows = clipped_offsets(query_positions, key_positions, self.max_distance, pattern.device)
        # In mixed precision the pattern is bfloat16, in which a sum over many keys would lose what is small.
        weights = pattern.to(torch.promote_types(pattern.dtype, self.relative_values.dtype))
        by_row = weights.new_zeros(*pattern.shape[:3], len(self.relative_values))  # [batch, head, query, 2K + 1]
        return by_row.scatter_add(-1, rows.expand_as(pattern), weights) @ self.relative_values

    def matrices(self, length: int) -> dict[str, Tensor]:
        """``matrix``: the relative keys [offset from -K to K, d_head]; ``similarity`` [query, key]: cosine of each pair's vector with the
        vector of offset 0."""
        rows = self.relative_keys.detach().float().cpu()
        pairs = clipped_offsets(range(length), range(length), self.max_distance, torch.device("cpu"))
        return {"matrix": rows, "similarity": cosines(rows)[self.max_distance][pairs]}
