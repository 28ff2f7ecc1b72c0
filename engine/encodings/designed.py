"""An encoding put together from parts: features of the position, a read-out, and the place where it acts.

Which parts there are stands in :class:`engine.encodings.parameters.DesignedParameters`; what they come to in
:mod:`engine.encodings.design`; :mod:`engine.encodings.design_code` writes the same encoding as a class of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from engine.encodings.base import PositionalEncoding, Positions, bias_picture, index_of, offsets, rows_picture
from engine.encodings.conv import DepthwiseConvolution
from engine.encodings.dense import at_least_single, root_mean_square
from engine.encodings.design import design_of
from engine.encodings.features import FEATURES, Waves, read_out
from engine.encodings.rope import partners

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig

PROBE = 64
"""Random tokens over which the first scale of a convolution is measured."""


class Designed(PositionalEncoding):
    """Acts at one place; at the others it is no encoding."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        design = design_of(config, max_positions=max_positions, causal=config.causal if causal is None else causal)
        self.place = design.parts.design_place
        self.features = FEATURES[design.parts.design_features](design)
        self.readout = read_out(design)
        self.reads_tokens = isinstance(self.features, DepthwiseConvolution)
        self.reads_before = design.before if self.reads_tokens else 0
        last = self.features if isinstance(self.readout, nn.Identity) else self.readout
        if not isinstance(last, Waves):  # whose amplitude is known
            seen = torch.arange(design.lowest, design.trained).float()
            if self.reads_tokens:
                seen = torch.randn(1, PROBE, config.d_model) * config.token_init_std
            last.scale(design.scale / root_mean_square(self.values(seen)))

    def values(self, at: Tensor) -> Tensor:
        """[...] positions, offsets, or tokens [batch, length, d_model] -> [..., what the place takes]."""
        values: Tensor = self.readout(self.features(at))
        return values

    def add_to_embedding(self, x: Tensor, positions: Positions, padding: Tensor | None = None) -> Tensor:
        if self.place != "embedding":
            return x
        if self.reads_tokens:
            read = x if padding is None else x.masked_fill(~padding[..., None], 0.0)
        else:
            read = index_of(positions, x.device).to(at_least_single(x))
        return x + self.values(read).to(x.dtype)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor | None:
        if self.place != "scores":
            return None
        offset = offsets(query_positions, key_positions, q.device).to(at_least_single(q))
        return self.values(offset).permute(2, 0, 1)[None].to(q.dtype)  # [query, key, head] -> [1, head, query, key]

    def angles(self, positions: Positions, device: torch.device, dtype: torch.dtype) -> Tensor:
        """[position, d_head / 2]"""
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
    def picture(self, length: int) -> dict[str, Tensor]:
        """As those of the built-in encodings that act at the same place."""
        places, device = range(length), next(iter(self.state_dict().values())).device
        if isinstance(self.features, DepthwiseConvolution):
            rows = self.values(torch.ones(1, length, len(self.features.kernel), device=device))[0]
            return {"matrix": rows.float().cpu(), "similarity": self.features.overlap(length)}
        if self.place == "embedding":
            return rows_picture(self.values(index_of(places, device).float()))
        if self.place == "scores":
            return bias_picture(self.values(offsets(places, places, device).float()).permute(2, 0, 1))
        turn = self.angles(places, device, torch.float32).float().cpu()
        return {"matrix": turn, "similarity": (turn.cos() @ turn.cos().T + turn.sin() @ turn.sin().T) / turn.shape[1]}
