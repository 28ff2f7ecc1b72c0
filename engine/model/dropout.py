"""Dropout that keeps one byte a value for backward on every device (``F.dropout`` on a CPU keeps four)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Zero a share ``p`` of the values while training and scale up the others."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return torch.native_dropout(x, self.p, True)[0] if self.training and self.p > 0 else x
