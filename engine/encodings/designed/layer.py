"""An encoding put together from parts: features of the position, a read-out, and the place where it acts.

The parts are settings of :class:`engine.encodings.designed.DesignedSettings`; :mod:`engine.encodings.designed.code` writes the same
encoding as a class. Each feature takes positions or offsets ``at`` [...], as floating-point numbers, and gives [..., width]. A part that
is not learned is a buffer, so that it is saved and loaded with the parameters.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, gelu

from engine.encodings.base.layer import PositionalEncoding, Positions, bias_matrices, index_below, offsets, row_matrices
from engine.encodings.base.modules import (
    Dense,
    DepthwiseConvolution,
    Scalable,
    at_least_single,
    register_tensor,
    root_mean_square,
)
from engine.encodings.base.rotation import angle_matrices, partners
from engine.encodings.designed import Design, DesignedSettings
from engine.settings.base import BaseConfig

PROBE = 64  # random tokens over which the first scale of a convolution is measured


class PositionTable(Scalable):
    """A row for each position trained, or for each offset: its first and last row also hold for all offsets beyond them."""

    table: Tensor

    def __init__(self, design: Design) -> None:
        super().__init__()
        self.first_row, self.clips = design.first_row, design.parts.design_place == "scores"
        register_tensor(self, "table", torch.randn(design.rows, design.width), learned=design.parts.learns_features)

    def forward(self, at: Tensor) -> Tensor:
        rows = at.long() - self.first_row
        if self.clips:
            rows = rows.clamp(0, len(self.table) - 1)
        return embedding(rows, self.table)

    phases = forward


class Waves(nn.Module):
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


class ReadOut(nn.Module):
    def __init__(self, inputs: int, hidden: int, outputs: int, *, learned: bool) -> None:
        super().__init__()
        self.hidden = Dense(inputs, hidden, learned=learned)
        self.out = Dense(hidden, outputs, learned=learned)

    def forward(self, features: Tensor) -> Tensor:
        read: Tensor = self.out(gelu(self.hidden(features)))
        return read

    def scale(self, factor: float) -> None:
        self.out.scale(factor)


class Network(ReadOut):
    def __init__(self, design: Design) -> None:
        parts = design.parts
        super().__init__(1, parts.design_hidden, design.width, learned=parts.learns_features)
        self.trained = design.trained

    def forward(self, at: Tensor) -> Tensor:
        return super().forward(at[..., None] / self.trained)

    phases = forward


def convolution(design: Design) -> DepthwiseConvolution:
    return DepthwiseConvolution(design.outputs, design.before, design.after, learned=design.parts.learns_features)


FEATURES: dict[str, Callable[[Design], PositionTable | Waves | Network | DepthwiseConvolution]] = {
    "table": PositionTable,
    "sinusoids": Waves,
    "fourier": Waves,
    "network": Network,
    "convolution": convolution,
}


def read_out(design: Design) -> nn.Identity | Dense | ReadOut:
    parts, learned = design.parts, design.parts.learns_readout
    if parts.design_readout == "direct":
        return nn.Identity()
    if parts.design_readout == "linear":
        return Dense(design.width, design.outputs, learned=learned)
    return ReadOut(design.width, parts.design_hidden, design.outputs, learned=learned)


class Designed(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: DesignedSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        design = settings.in_run(config, max_positions=max_positions, causal=causal)
        self.place = settings.design_place
        self.end = design.rows if settings.ends_at_trained_length else None
        self.features = FEATURES[settings.design_features](design)
        self.readout = read_out(design)
        self.reads_tokens = settings.reads_tokens
        self.reads_before = design.before if self.reads_tokens else 0
        last = self.features if isinstance(self.readout, nn.Identity) else self.readout
        if not isinstance(last, Waves):  # the scale of waves is their known amplitude
            visible = torch.arange(design.first_row, design.trained).float()
            if self.reads_tokens:
                visible = torch.randn(1, PROBE, config.d_model) * config.token_init_std
            last.scale(design.scale / root_mean_square(self.values(visible)))

    def values(self, at: Tensor) -> Tensor:
        """The encoding's values at positions or offsets [...], or of tokens [batch, length, d_model]: [..., values used there]."""
        values: Tensor = self.readout(self.features(at))
        return values

    def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:
        if self.place != "embedding":
            return x
        if self.reads_tokens:
            read = x if token_mask is None else x.masked_fill(~token_mask[..., None], 0.0)
        else:
            read = index_below(self.end, positions, x.device).to(at_least_single(x))
        return x + self.values(read).to(x.dtype)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        if self.place != "scores":
            return None
        offset = offsets(query_positions, key_positions, q.device).to(at_least_single(q))
        return self.values(offset).permute(2, 0, 1)[None].to(q.dtype)  # [query, key, head] -> [1, head, query, key]

    def angles(self, positions: Positions, device: torch.device, dtype: torch.dtype) -> Tensor:
        """The angle of each pair of dimensions, in radians, [position, d_head / 2]."""
        assert not isinstance(self.features, DepthwiseConvolution)
        angles: Tensor = self.features.phases(index_below(self.end, positions, device).to(dtype))
        return angles

    def rotate(self, t: Tensor, positions: Positions) -> Tensor:
        if self.place != "rotation":
            return t
        turn = self.angles(positions, t.device, at_least_single(t))
        cos = torch.cat([turn.cos(), turn.cos()], dim=-1).to(t.dtype)  # [position, d_head]
        sin = torch.cat([-turn.sin(), turn.sin()], dim=-1).to(t.dtype)
        return t * cos + partners(t, "rotate_half") * sin

    @torch.no_grad()
    def matrices(self, length: int) -> dict[str, Tensor]:
        at, device = range(length), self.device
        if isinstance(self.features, DepthwiseConvolution):
            rows = self.values(torch.ones(1, length, len(self.features.kernel), device=device))[0]
            return {"matrix": rows.float().cpu(), "similarity": self.features.overlap(length)}
        if self.place == "embedding":
            return row_matrices(self.values(index_below(self.end, at, device).float()))
        if self.place == "scores":
            return bias_matrices(self.values(offsets(at, at, device).float()).permute(2, 0, 1))
        return angle_matrices(self.angles(at, device, torch.float32).float().cpu())
