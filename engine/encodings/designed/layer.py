"""An encoding put together from parts: features of the position, a read-out, and the place where it acts.

The parts are settings of :class:`engine.encodings.designed.spec.DesignedSettings`; :mod:`engine.encodings.designed.code` writes the
same encoding as a class of its own.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.encodings.designed.features import FEATURES, Waves, read_out
from engine.encodings.designed.spec import DesignedSettings
from engine.encodings.layer import PositionalEncoding, Positions, bias_matrices, index_of, offsets, row_matrices
from engine.encodings.modules import DepthwiseConvolution, at_least_single, root_mean_square
from engine.encodings.rotation import partners
from engine.settings.base import BaseConfig

PROBE = 64
"""Random tokens over which the first scale of a convolution is measured."""


class Designed(PositionalEncoding):
    """Acts at the place that the settings choose; at the other hooks it is the identity."""

    def __init__(self, config: BaseConfig, own: DesignedSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        design = own.in_run(config, max_positions=max_positions, causal=causal)
        self.place = own.design_place
        self.features = FEATURES[own.design_features](design)
        self.readout = read_out(design)
        self.reads_tokens = own.reads_tokens
        self.reads_before = design.before if self.reads_tokens else 0
        last = self.features if isinstance(self.readout, nn.Identity) else self.readout
        if not isinstance(last, Waves):  # the scale of waves is their known amplitude
            seen = torch.arange(design.first_row, design.trained).float()
            if self.reads_tokens:
                seen = torch.randn(1, PROBE, config.d_model) * config.token_init_std
            last.scale(design.scale / root_mean_square(self.values(seen)))

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
            read = index_of(positions, x.device).to(at_least_single(x))
        return x + self.values(read).to(x.dtype)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        if self.place != "scores":
            return None
        offset = offsets(query_positions, key_positions, q.device).to(at_least_single(q))
        return self.values(offset).permute(2, 0, 1)[None].to(q.dtype)  # [query, key, head] -> [1, head, query, key]

    def angles(self, positions: Positions, device: torch.device, dtype: torch.dtype) -> Tensor:
        """The angle of each pair of dimensions, in radians, [position, d_head / 2]."""
        assert not isinstance(self.features, DepthwiseConvolution)
        angles: Tensor = self.features.phases(index_of(positions, device).to(dtype))
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
        """The same matrices as those of the other encodings that act at the same place."""
        at, device = range(length), next(iter(self.state_dict().values())).device
        if isinstance(self.features, DepthwiseConvolution):
            rows = self.values(torch.ones(1, length, len(self.features.kernel), device=device))[0]
            return {"matrix": rows.float().cpu(), "similarity": self.features.overlap(length)}
        if self.place == "embedding":
            return row_matrices(self.values(index_of(at, device).float()))
        if self.place == "scores":
            return bias_matrices(self.values(offsets(at, at, device).float()).permute(2, 0, 1))
        turn = self.angles(at, device, torch.float32).float().cpu()
        return {"matrix": turn, "similarity": (turn.cos() @ turn.cos().T + turn.sin() @ turn.sin().T) / turn.shape[1]}
