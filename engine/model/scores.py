"""The scores of queries and keys, and the attention pattern made of them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.model.dropout import Dropout
from engine.model.masks import Mask

Pair = tuple[Tensor, Tensor]


def _unit(t: Tensor) -> Tensor:
    """Vectors of length 1, [..., d_head]."""
    return t * torch.rsqrt(t.square().sum(-1, keepdim=True) + 1e-12)


PREPARE: dict[str, Callable[[Tensor, Tensor], Pair]] = {
    "scaled_dot": lambda q, k: (q * q.shape[-1] ** -0.5, k),
    "dot": lambda q, k: (q, k),
    "cosine": lambda q, k: (_unit(q) * q.shape[-1] ** 0.5, _unit(k)),
    "additive": lambda q, k: (q, k),
}
"""The preparation of q and k before they are compared. The cosine is multiplied by sqrt(d_head): a scaled dot product of
vectors whose components have variance one."""


class Pattern(nn.Module):
    """Scores and their softmax as matrices: the part of attention whose memory grows with the square of the length.

    ``additive`` is w . tanh(q_i + k_j) (Bahdanau et al. 2015, appendix A.1.2), with one w a head.
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.axis = {"key": -1, "query": -2}[config.softmax_axis]
        self.dropout = Dropout(config.dropout)
        self.weight: nn.Parameter | None = None
        if config.attention_score == "additive":
            bound = config.head_width**-0.5
            self.weight = nn.Parameter(torch.empty(config.n_heads, config.head_width).uniform_(-bound, bound))

    def scores(self, q: Tensor, k: Tensor) -> Tensor:
        """[batch, head, query, d_head] and [batch, head, key, d_head] -> [batch, head, query, key]."""
        if self.weight is None:
            return q @ k.mT
        pairs = torch.tanh(q[:, :, :, None] + k[:, :, None, :])  # [batch, head, query, key, d_head]
        return (pairs * self.weight[:, None, None]).sum(-1)

    def forward(self, q: Tensor, k: Tensor, bias: Tensor | None, mask: Mask | None) -> tuple[Tensor, Tensor, Tensor]:
        """Scores, pattern, and the pattern after dropout, [batch, head, query, key] each."""
        scores = self.scores(q, k)
        if bias is not None:
            scores = scores + bias
        pattern = scores.softmax(self.axis)
        if mask is not None and self.axis == -2:
            # A key that no query may see would still get a column of weights that sums to one.
            pattern = pattern.masked_fill(mask.blocked, 0.0)
        return scores, pattern, self.dropout(pattern)
