"""A depthwise convolution over the embedded tokens before attention: h_i^(0) = E[x_i] + b + sum_t w_t * E[x_(i+t)].

Source: Chu et al. 2021, Conditional Positional Encodings for Vision Transformers, section 3.2, here over a sequence. No
position is numbered: what comes before and after mixes into each token, and the zeros beyond the ends mark the ends. In a
causal stack t runs from -K to 0, so that nothing leaks from later tokens; looking both ways, from -K to K.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, pad

from engine.encodings.base import PositionalEncoding, Positions, cosines

if TYPE_CHECKING:
    from engine.config import RunConfig


class Convolution(PositionalEncoding):
    """Each dimension of the embedding has a kernel of its own."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        self.before = int(config.value("conv_reach"))
        self.after = 0 if (config.causal if causal is None else causal) else self.before
        taps = self.before + 1 + self.after
        bound = taps**-0.5
        self.kernel = nn.Parameter(torch.empty(config.d_model, taps).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(config.d_model).uniform_(-bound, bound))
        self.reads_before = self.before

    def add_to_embedding(self, x: Tensor, positions: Positions, padding: Tensor | None = None) -> Tensor:
        real = x if padding is None else x.masked_fill(~padding[..., None], 0.0)
        return x + self.mixed(real)

    def mixed(self, x: Tensor) -> Tensor:
        """What is added to tokens [batch, length, d_model]."""
        padded = pad(x.mT, (self.before, self.after))  # [batch, d_model, before + length + after]
        return conv1d(padded, self.kernel[:, None], self.bias, groups=len(self.kernel)).mT

    @torch.no_grad()
    def picture(self, length: int) -> dict[str, Tensor]:
        """``matrix`` [position, d_model]: what is added where every token is the vector of ones: the ends alone differ.
        ``similarity`` [position, position]: the cosine to expect of what is added, over independent random tokens; near
        positions read the same neighbours."""
        kernel = self.kernel.float().cpu()
        rows = self.mixed(torch.ones(1, length, len(kernel), device=self.kernel.device, dtype=self.kernel.dtype))[0]
        reads = torch.zeros(length, len(kernel), length + self.before + self.after)
        for place in range(length):
            reads[place, :, place : place + kernel.shape[1]] = kernel
        inside = reads[..., self.before : self.before + length].flatten(1)  # [position, d_model * position read]
        return {"matrix": rows.float().cpu(), "similarity": cosines(inside)}
