"""A trained table added to the embedding: h_i^(0) = E[x_i] + P[i].

Source: Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from engine.encodings.base import NoRow, PositionalEncoding, Positions, cosines, index_of

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class Learned(PositionalEncoding):
    """One row for each position met in training; there is none beyond (:class:`NoRow`)."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        std = config.value("table_init_std")
        self.table = nn.Parameter(torch.empty(max_positions, config.d_model))
        nn.init.normal_(self.table, std=config.token_init_std if std is None else std)

    def add_to_embedding(self, x: Tensor, positions: Positions, padding: Tensor | None = None) -> Tensor:
        return x + self._rows(positions)

    def _rows(self, positions: Positions) -> Tensor:
        """[position, d_model]"""
        if max(positions) >= len(self.table):
            raise NoRow(max(positions), len(self.table))
        return nn.functional.embedding(index_of(positions, self.table.device), self.table)

    def picture(self, length: int) -> dict[str, Tensor]:
        rows = self._rows(range(length)).detach().float()
        return {"matrix": rows, "similarity": cosines(rows)}
