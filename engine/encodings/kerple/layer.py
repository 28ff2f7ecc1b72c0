"""KERPLE, a kernelised relative bias: e_ij = q_i . k_j / sqrt(d_h) - b_h(|i - j|), with b learned and rising with distance.

Source: Chi et al. 2022, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation:
``log`` is r_1 log(1 + r_2 |i - j|), ``power`` is r_1 |i - j|^r_2, with r_1 > 0, r_2 > 0 and in the power kernel r_2 <= 2 for
each head. First values as in the authors' code: the one in the exponent or before the logarithm uniform up to 2, the
other up to 1. The bounds hold by softplus and sigmoid, where that code clips.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from engine.encodings.base.layer import PositionalEncoding, Positions, bias_matrices, offsets
from engine.encodings.base.modules import at_least_single
from engine.encodings.kerple import KerpleSettings
from engine.settings.base import BaseConfig

SMALLEST = 0.01  # lower bound of the uniform first values, as in the authors' code


def softplus_inverse(value: Tensor) -> Tensor:
    return value.expm1().log()


class Kerple(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: KerpleSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.kernel = settings.kerple_kernel
        one, two = (torch.empty(config.n_heads).uniform_(SMALLEST, most) for most in (1.0, 2.0))
        logarithmic = softplus_inverse(two), softplus_inverse(one)
        power = softplus_inverse(one), (two / 2).clamp(max=0.99).logit()
        self.raw_1, self.raw_2 = map(nn.Parameter, logarithmic if self.kernel == "log" else power)

    def r(self) -> tuple[Tensor, Tensor]:
        """r_1 and r_2, above zero, [head, 1, 1] each."""
        raw_1, raw_2 = (raw.to(at_least_single(raw))[:, None, None] for raw in (self.raw_1, self.raw_2))
        return softplus(raw_1), softplus(raw_2) if self.kernel == "log" else 2 * raw_2.sigmoid()

    def bias(self, query_positions: Positions, key_positions: Positions) -> Tensor:
        """The penalty, below zero, [head, query, key]."""
        r_1, r_2 = self.r()
        distances = offsets(query_positions, key_positions, r_1.device).abs().to(r_1.dtype)
        return -r_1 * ((r_2 * distances).log1p() if self.kernel == "log" else distances**r_2)

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        return self.bias(query_positions, key_positions)[None].to(q.dtype)

    def matrices(self, length: int) -> dict[str, Tensor]:
        return bias_matrices(self.bias(range(length), range(length)))
