"""Learned Fourier features of the position, then a small network: h_i^(0) = E[x_i] + W_2 gelu(W_1 r_i + b_1) + b_2, with
r_i = 1/sqrt(F) [cos(i w), sin(i w)] and trained frequencies w.

Source: Li et al. 2021, Learnable Fourier Features for Multi-Dimensional Spatial Positional Encoding,
here for the one dimension of a sequence. First frequencies are drawn from N(0, 1/gamma^2), so that at first
r_i . r_j is about exp(-(i - j)^2 / 2 gamma^2) / 2: gamma is the distance over which positions look alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from engine.encodings.base import PositionalEncoding, Positions, index_of, rows_picture
from engine.encodings.dense import Dense, at_least_single, root_mean_square

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class Fourier(PositionalEncoding):
    """Waves whose lengths are learned, mixed by two dense layers; any position has its row."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        waves, width = int(config.value("fourier_frequencies")), int(config.value("fourier_width"))
        self.frequencies = nn.Parameter(torch.randn(waves) / float(config.value("fourier_length_scale")))
        self.hidden = Dense(2 * waves, width)
        self.out = Dense(width, config.d_model)
        std = config.value("encoding_init_std")
        self.out.scale(
            (config.token_init_std if std is None else std) / root_mean_square(self.rows(range(max_positions)))
        )

    def features(self, positions: Positions) -> Tensor:
        """r_i, [position, F] with F twice the number of frequencies."""
        frequencies = self.frequencies.to(at_least_single(self.frequencies))
        angles = index_of(positions, frequencies.device)[:, None] * frequencies
        features: Tensor = torch.cat([angles.cos(), angles.sin()], dim=1) / (2 * len(frequencies)) ** 0.5
        return features

    def rows(self, positions: Positions) -> Tensor:
        """[position, d_model]"""
        rows: Tensor = self.out(gelu(self.hidden(self.features(positions))))
        return rows

    def add_to_embedding(self, x: Tensor, positions: Positions, padding: Tensor | None = None) -> Tensor:
        return x + self.rows(positions).to(x.dtype)

    def picture(self, length: int) -> dict[str, Tensor]:
        return rows_picture(self.rows(range(length)))
