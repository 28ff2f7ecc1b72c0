"""A trained table added to the embedding: h_i^(0) = E[x_i] + P[i].

Source: Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1.
"""

import torch
from torch import Tensor, nn

from engine.encodings.base.layer import AddedRows, Positions, index_below
from engine.encodings.learned import LearnedSettings
from engine.settings.base import BaseConfig


class Learned(AddedRows):
    def __init__(self, config: BaseConfig, settings: LearnedSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        std = config.token_init_std if settings.table_init_std is None else settings.table_init_std
        self.table = nn.Parameter(torch.empty(max_positions, config.d_model))
        nn.init.normal_(self.table, std=std)

    def rows(self, positions: Positions) -> Tensor:
        return nn.functional.embedding(index_below(len(self.table), positions, self.table.device), self.table)
