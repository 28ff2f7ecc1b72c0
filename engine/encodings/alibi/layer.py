"""ALiBi, attention with linear biases: e_ij = q_i . k_j / sqrt(d_h) - m_h |i - j|, nothing learned.

Source: Press et al. 2022, Train Short, Test Long, section 3; if the number of heads is no power of two, slopes as in the authors' code.
In both directions the penalty is symmetric; under a causal mask it is the paper's.
"""

import torch
from torch import Tensor

from engine.encodings.alibi import AlibiSettings
from engine.encodings.base.layer import PositionalEncoding, Positions, bias_matrices, cached_by_positions, offsets
from engine.settings.base import BaseConfig


def slopes(n_heads: int) -> tuple[float, ...]:
    """The slope of each head, m_h = 2^(-8h/H) for h = 1..H.

    If H is no power of two: the slopes for the power of two below H, then every second slope for the power above.
    """
    power = 2 ** (n_heads.bit_length() - 1)
    below = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    above = [2 ** (-8 * h / (2 * power)) for h in range(1, 2 * power + 1, 2)]
    return tuple((below + above)[:n_heads])


@cached_by_positions(maxsize=4)
def bias(
    by_head: tuple[float, ...], query_positions: Positions, key_positions: Positions, device: torch.device, dtype: torch.dtype
) -> Tensor:  # fmt: skip
    """-m_h |i - j|, [1, head, query, key]."""
    distances = offsets(query_positions, key_positions, device).abs()
    return (-torch.tensor(by_head, device=device)[None, :, None, None] * distances).to(dtype)


class Alibi(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: AlibiSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.slopes = tuple(settings.alibi_slope_scale * slope for slope in slopes(config.n_heads))

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        return bias(self.slopes, query_positions, key_positions, q.device, q.dtype)

    def matrices(self, length: int) -> dict[str, Tensor]:
        matrix = bias(self.slopes, range(length), range(length), torch.device("cpu"), torch.float32)[0]
        return bias_matrices(matrix)
