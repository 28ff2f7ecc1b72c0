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
from engine.encodings.dense import hold

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class DepthwiseConvolution(nn.Module):
    """[batch, length, d_model] -> the same; each dimension has a kernel of its own."""

    kernel: Tensor
    bias: Tensor

    def __init__(self, width: int, before: int, after: int, *, learned: bool = True) -> None:
        super().__init__()
        self.before, self.after = before, after
        bound = (before + 1 + after) ** -0.5
        hold(self, "kernel", torch.empty(width, before + 1 + after).uniform_(-bound, bound), learned=learned)
        hold(self, "bias", torch.empty(width).uniform_(-bound, bound), learned=learned)

    def forward(self, x: Tensor) -> Tensor:
        padded = pad(x.mT, (self.before, self.after))  # [batch, d_model, before + length + after]
        kernel, bias = self.kernel.to(x.dtype), self.bias.to(x.dtype)
        return conv1d(padded, kernel[:, None], bias, groups=len(kernel)).mT

    @torch.no_grad()
    def scale(self, factor: float) -> None:
        """Multiply what comes out."""
        self.kernel.mul_(factor)
        self.bias.mul_(factor)

    @torch.no_grad()
    def overlap(self, length: int) -> Tensor:
        """The cosine to expect between positions, over independent random tokens, [position, position]: near ones read the same
        neighbours."""
        kernel = self.kernel.float().cpu()
        reads = torch.zeros(length, len(kernel), self.before + length + self.after)
        for place in range(length):
            reads[place, :, place : place + kernel.shape[1]] = kernel
        return cosines(reads[..., self.before : self.before + length].flatten(1))


class Convolution(PositionalEncoding):
    """A depthwise convolution, added."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        reach = int(config.value("conv_reach"))
        after = 0 if (config.causal if causal is None else causal) else reach
        self.mix = DepthwiseConvolution(config.d_model, reach, after)
        self.reads_before = reach

    def add_to_embedding(self, x: Tensor, positions: Positions, padding: Tensor | None = None) -> Tensor:
        real = x if padding is None else x.masked_fill(~padding[..., None], 0.0)
        mixed: Tensor = self.mix(real)
        return x + mixed

    @torch.no_grad()
    def picture(self, length: int) -> dict[str, Tensor]:
        """``matrix`` [position, d_model]: what is added where every token is the vector of ones: the ends alone differ.
        ``similarity``: :meth:`DepthwiseConvolution.overlap`."""
        kernel = self.mix.kernel
        rows = self.mix(torch.ones(1, length, len(kernel), device=kernel.device, dtype=kernel.dtype))[0]
        return {"matrix": rows.float().cpu(), "similarity": self.mix.overlap(length)}
