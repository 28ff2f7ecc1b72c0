"""A trained table added to the embedding: h_i^(0) = E[x_i] + P[i].

Source: Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1.
"""

import torch
from torch import Tensor, nn

from engine.encodings.base.layer import PositionalEncoding, PositionOutOfRange, Positions, index_of, row_matrices
from engine.encodings.learned import LearnedSettings
from engine.settings.base import BaseConfig


class Learned(PositionalEncoding):
    """One row for each position met in training and none beyond (:class:`PositionOutOfRange`)."""

    def __init__(self, config: BaseConfig, own: LearnedSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        std = config.token_init_std if own.table_init_std is None else own.table_init_std
        self.table = nn.Parameter(torch.empty(max_positions, config.d_model))
        nn.init.normal_(self.table, std=std)

    def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:
        return x + self.rows(positions)

    def rows(self, positions: Positions) -> Tensor:
        """The table's rows at these positions, [position, d_model]. Raises PositionOutOfRange beyond the last row."""
        if max(positions) >= len(self.table):
            raise PositionOutOfRange(max(positions), len(self.table))
        return nn.functional.embedding(index_of(positions, self.table.device), self.table)

    def matrices(self, length: int) -> dict[str, Tensor]:
        return row_matrices(self.rows(range(length)))
