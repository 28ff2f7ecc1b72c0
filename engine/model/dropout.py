"""Dropout that keeps one byte a value for backward on every device (``F.dropout`` on a CPU keeps four)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Dropout(nn.Module):
    """Zeroes a share ``p`` of the values in training and scales up the others."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return torch.native_dropout(x, self.p, True)[0] if self.training and self.p > 0 else x


class PositionDropout(nn.Module):
    """Leaves out all positions of a share ``p`` of the sequences in training; nothing is scaled."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, tokens: Tensor, placed: Tensor) -> Tensor:
        """Token embeddings without and with positions, both [batch, length, d_model] -> one of the two for each sequence."""
        if not self.training or self.p == 0 or tokens is placed:
            return placed
        without = torch.rand(len(tokens), 1, 1, device=tokens.device) < self.p
        return torch.where(without, tokens, placed)
