"""No positional encoding (NoPE): h_i^(0) = E[x_i]. A causal mask alone may still tell positions apart.

Source: Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization in Transformers.
"""

import torch
from torch import Tensor

from engine.encodings.base.layer import PositionalEncoding
from engine.encodings.nope import NopeSettings
from engine.settings.base import BaseConfig


class NoEncoding(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: NopeSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()

    def matrices(self, length: int) -> dict[str, Tensor]:
        return {"matrix": torch.zeros(length, 1), "similarity": torch.ones(length, length)}
