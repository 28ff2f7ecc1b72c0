"""No encoding: h_i^(0) = E[x_i]. A causal mask alone may still tell positions apart.

Source: Kazemnejad et al. 2023, The Impact of Positional Encoding on Length Generalization in Transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.encodings.base import PositionalEncoding

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class NoEncoding(PositionalEncoding):
    """All positions look alike."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()

    def picture(self, length: int) -> dict[str, Tensor]:
        return {"matrix": torch.zeros(length, 1), "similarity": torch.ones(length, length)}
