"""The parts of a design as torch modules: features of a position, and read-outs.

Each feature takes positions or offsets ``at`` [...], as floating-point numbers, and gives [..., width]. What is not learned is a
buffer, so that it is saved and loaded with the parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, gelu

from engine.encodings.designed.spec import Design
from engine.encodings.layer import PositionOutOfRange
from engine.encodings.modules import Dense, DepthwiseConvolution, register_tensor


class Table(nn.Module):
    """A row for each position trained and none beyond; or a row for each offset, where the first and the last row also stand for all
    offsets beyond them. Raises PositionOutOfRange."""

    table: Tensor

    def __init__(self, design: Design) -> None:
        super().__init__()
        self.first_row, self.clips = design.first_row, design.parts.design_place == "scores"
        register_tensor(self, "table", torch.randn(design.rows, design.width), learned=design.parts.learns_features)

    def forward(self, at: Tensor) -> Tensor:
        rows = at.long() - self.first_row
        if self.clips:
            rows = rows.clamp(0, len(self.table) - 1)
        elif rows.max() >= len(self.table):
            raise PositionOutOfRange(int(rows.max()), len(self.table))
        return embedding(rows, self.table)

    phases = forward

    @torch.no_grad()
    def scale(self, factor: float) -> None:
        self.table.mul_(factor)


class Waves(nn.Module):
    """Cosines and sines of wavelengths in geometric order (sinusoids) or of random wavelengths (Fourier)."""

    frequencies: Tensor

    def __init__(self, design: Design) -> None:
        super().__init__()
        parts, waves = design.parts, design.waves
        if parts.design_features == "sinusoids":
            frequencies = parts.design_base ** -(torch.arange(waves) / waves)
        else:
            frequencies = torch.randn(waves) / parts.design_length_scale
        register_tensor(self, "frequencies", frequencies, learned=design.parts.learns_features)
        self.width = design.width
        # The root mean square of a wave is 1 / sqrt(2).
        self.amplitude = 2**0.5 * design.scale if parts.design_readout == "direct" else 1.0

    def phases(self, at: Tensor) -> Tensor:
        """The angle of each wave, in radians, [..., frequency]."""
        return at[..., None] * self.frequencies

    def forward(self, at: Tensor) -> Tensor:
        phases = self.phases(at)
        return self.amplitude * torch.cat([phases.cos(), phases.sin()], dim=-1)[..., : self.width]


class Network(nn.Module):
    """A network of one hidden layer on the position over the trained length."""

    def __init__(self, design: Design) -> None:
        super().__init__()
        hidden, learned = design.parts.design_hidden, design.parts.learns_features
        self.trained = design.trained
        self.hidden = Dense(1, hidden, learned=learned)
        self.out = Dense(hidden, design.width, learned=learned)

    def forward(self, at: Tensor) -> Tensor:
        features: Tensor = self.out(gelu(self.hidden(at[..., None] / self.trained)))
        return features

    phases = forward

    def scale(self, factor: float) -> None:
        self.out.scale(factor)


def convolution(design: Design) -> DepthwiseConvolution:
    """A convolution of the tokens, not of positions, [batch, length, d_model] -> the same."""
    return DepthwiseConvolution(design.outputs, design.before, design.after, learned=design.parts.learns_features)


FEATURES: dict[str, Callable[[Design], Table | Waves | Network | DepthwiseConvolution]] = {
    "table": Table,
    "sinusoids": Waves,
    "fourier": Waves,
    "network": Network,
    "convolution": convolution,
}


class ReadOut(nn.Module):
    """A network of one hidden layer from the features to what acts."""

    def __init__(self, inputs: int, hidden: int, outputs: int, *, learned: bool) -> None:
        super().__init__()
        self.hidden = Dense(inputs, hidden, learned=learned)
        self.out = Dense(hidden, outputs, learned=learned)

    def forward(self, features: Tensor) -> Tensor:
        read: Tensor = self.out(gelu(self.hidden(features)))
        return read

    def scale(self, factor: float) -> None:
        self.out.scale(factor)


def read_out(design: Design) -> nn.Identity | Dense | ReadOut:
    parts, learned = design.parts, design.parts.learns_readout
    if parts.design_readout == "direct":
        return nn.Identity()
    if parts.design_readout == "linear":
        return Dense(design.width, design.outputs, learned=learned)
    return ReadOut(design.width, parts.design_hidden, design.outputs, learned=learned)
