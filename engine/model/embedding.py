"""The token embedding: one row a token, or for tokens that are made of parts the sum of their parts' rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


def token_embedding(config: RunConfig, n_tokens: int) -> nn.Embedding | SummedEmbedding:
    """Tokens [batch, length] -> [batch, length, d_model]; ``n_tokens`` rows of first values at ``token_init_std``."""
    rows = nn.Embedding(n_tokens, config.d_model)
    nn.init.normal_(rows.weight, std=config.token_init_std)
    parts = config.task_settings.token_parts
    return rows if parts is None else SummedEmbedding(rows, parts)


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
