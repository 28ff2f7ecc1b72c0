"""Learned Fourier features of the position, then a small network: h_i^(0) = E[x_i] + W_2 gelu(W_1 r_i + b_1) + b_2, with
r_i = 1/sqrt(2 m) [cos(i w), sin(i w)] and m trained frequencies w.

Source: Li et al. 2021, Learnable Fourier Features for Multi-Dimensional Spatial Positional Encoding,
here for the one dimension of a sequence. First frequencies are drawn from N(0, 1/gamma^2), so that at first
r_i . r_j is about exp(-(i - j)^2 / 2 gamma^2) / 2: gamma is the distance over which positions look similar.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from engine.encodings.base.layer import AddedRows, Positions, index_of
from engine.encodings.base.modules import Dense, at_least_single, root_mean_square
from engine.encodings.fourier import FourierSettings
from engine.settings.base import BaseConfig


class Fourier(AddedRows):
    def __init__(self, config: BaseConfig, settings: FourierSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        waves, width = settings.fourier_frequencies, settings.fourier_width
        self.frequencies = nn.Parameter(torch.randn(waves) / settings.fourier_length_scale)
        self.hidden = Dense(2 * waves, width)
        self.out = Dense(width, config.d_model)
        std = config.token_init_std if settings.encoding_init_std is None else settings.encoding_init_std
        self.out.scale(std / root_mean_square(self.rows(range(max_positions))))

    def features(self, positions: Positions) -> Tensor:
        """r_i, [position, 2 m], with m frequencies; the source names F = 2 m."""
        frequencies = self.frequencies.to(at_least_single(self.frequencies))
        angles = index_of(positions, frequencies.device)[:, None] * frequencies
        features: Tensor = torch.cat([angles.cos(), angles.sin()], dim=1) / (2 * len(frequencies)) ** 0.5
        return features

    def rows(self, positions: Positions) -> Tensor:
        rows: Tensor = self.out(gelu(self.hidden(self.features(positions))))
        return rows
