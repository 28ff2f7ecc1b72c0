"""CoPE, contextual positions: each query counts, back from itself, the keys that a gate lets count, and e_ij has the product of the query
with a learned vector of that count: e_ij = q_i . (k_j + e[p_ij]) with p_ij = sum_(t=j..i) sigmoid(q_i . k_t).

Source: Golovneva et al. 2024, Contextual Position Encoding: Learning to Count What's Important, section 4. A count need not be
whole: the products with the vectors of the two nearest whole numbers are interpolated. Counts end at the last vector.
Heads share the vectors, layers do not. The paper's vectors start at zero; small ones let the gates learn at once.

The paper's stack is causal. In both directions, a query here also counts forward, from itself to the key, with further vectors.
"""

import torch
from torch import Tensor, nn

from engine.encodings.base.layer import PositionalEncoding, Positions, offsets
from engine.encodings.base.modules import at_least_single
from engine.encodings.cope import CopeSettings
from engine.settings.base import BaseConfig

INIT_STD = 0.02  # of the first vectors


class Cope(PositionalEncoding):
    """Learned vectors [direction, count, d_head]: one direction in a causal stack, two if a query looks both ways."""

    def __init__(self, config: BaseConfig, settings: CopeSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        directions = 1 if causal else 2
        self.vectors = nn.Parameter(torch.empty(directions, settings.cope_counts, config.head_width))
        nn.init.normal_(self.vectors, std=INIT_STD)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        offset = offsets(query_positions, key_positions, q.device)  # [query, key]
        dtype = at_least_single(q)
        gates = (q @ k.mT).to(dtype).sigmoid()  # [batch, head, query, key]
        back = gates.masked_fill(offset > 0, 0.0).flip(-1).cumsum(-1).flip(-1)
        bias = self._products(q, back, 0).masked_fill(offset > 0, 0.0)
        if len(self.vectors) == 2:
            forward = gates.masked_fill(offset < 0, 0.0).cumsum(-1)
            bias = bias + self._products(q, forward, 1).masked_fill(offset <= 0, 0.0)
        return bias.to(q.dtype)

    def _products(self, q: Tensor, counts: Tensor, direction: int) -> Tensor:
        """q_i . e[count] interpolated between the two whole numbers nearest to ``counts``, [batch, head, query, key] -> the same."""
        counts = counts.clamp(max=self.vectors.shape[1] - 1)
        by_count = (q @ self.vectors[direction].T).to(counts.dtype)  # [batch, head, query, count]
        whole = counts.detach().nan_to_num()  # NaN is no index; ``share`` hands it on
        low, high = whole.floor(), whole.ceil()
        share = counts - low
        return (1 - share) * by_count.gather(-1, low.long()) + share * by_count.gather(-1, high.long())

    @torch.no_grad()
    def matrices(self, length: int) -> dict[str, Tensor]:
        """``matrix``: the vectors [count, d_head], the forward ones below the backward ones. ``similarity`` [query, key]: with every gate
        at one half, the cosine of the pair's vector with that of the query itself."""
        vectors = self.vectors.float().cpu()
        positions = torch.arange(length)
        counts = (((positions[:, None] - positions).abs() + 1) / 2).clamp(max=vectors.shape[1] - 1)  # [query, key]
        low, high, share = counts.floor().long(), counts.ceil().long(), counts.frac()[..., None]

        def alike(rows: Tensor) -> Tensor:
            pairs = (1 - share) * rows[low] + share * rows[high]  # [query, key, d_head]
            return nn.functional.cosine_similarity(pairs, pairs[:1, :1], dim=-1)

        back, forward = alike(vectors[0]), alike(vectors[-1])
        similarity = torch.where(positions[:, None] >= positions, back, forward)
        return {"matrix": vectors.flatten(0, 1), "similarity": similarity}
