"""Tokens that are made of parts: each one's vector is the sum of its parts' rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding


class SummedEmbedding(nn.Module):
    """Tokens [batch, length] -> [batch, length, d_model]. ``parts``: for each token, the rows of the table it sums."""

    parts: Tensor

    def __init__(self, table: nn.Embedding, parts: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.table = table
        self.register_buffer("parts", torch.tensor(parts), persistent=False)  # [token, part]

    def forward(self, tokens: Tensor) -> Tensor:
        # [token, part, d_model] -> [token, d_model]: few tokens exist, many are read.
        return embedding(tokens, self.table(self.parts).sum(dim=1))
