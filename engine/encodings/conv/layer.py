"""A depthwise convolution over the embedded tokens before attention: h_i^(0) = E[x_i] + b + sum_t w_t * E[x_(i+t)].

Source: Chu et al. 2021, Conditional Positional Encodings for Vision Transformers, section 3.2, here over a sequence. No position is
numbered: the tokens before and after mix into each token, and the zeros beyond the ends mark the ends. In a causal stack t runs from -K
to 0, so that nothing leaks from later tokens; in others from -K to K.
"""

import torch
from torch import Tensor

from engine.encodings.base.layer import PositionalEncoding, Positions
from engine.encodings.base.modules import DepthwiseConvolution
from engine.encodings.conv import ConvSettings
from engine.settings.base import BaseConfig


class Convolution(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: ConvSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.mix = DepthwiseConvolution(config.d_model, settings.conv_reach, 0 if causal else settings.conv_reach)
        self.reads_before = settings.conv_reach

    def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:
        real = x if token_mask is None else x.masked_fill(~token_mask[..., None], 0.0)
        mixed: Tensor = self.mix(real)
        return x + mixed

    @torch.no_grad()
    def matrices(self, length: int) -> dict[str, Tensor]:
        """``matrix`` [position, d_model]: the sum added if every token is the vector of ones, so that only the ends differ.
        ``similarity`` [position, position]: :meth:`DepthwiseConvolution.overlap`."""
        kernel = self.mix.kernel
        rows = self.mix(torch.ones(1, length, len(kernel), device=kernel.device, dtype=kernel.dtype))[0]
        return {"matrix": rows.float().cpu(), "similarity": self.mix.overlap(length)}
