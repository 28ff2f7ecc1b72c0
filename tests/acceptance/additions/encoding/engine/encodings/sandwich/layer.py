"""Sandwich: e_ij = q_i . k_j / sqrt(d_h) + c_h (sum over t = 1..d'/2 of cos((i - j) / 10000^(2t/d')) - d'/2).

Source: Chi et al. 2023, Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis. The sum
is the inner product of the sinusoidal encodings of i and j; c_h = 8h/H for the heads h = 1..H. Taking d'/2 away makes
the bias zero at the query itself and changes no attention weight. Nothing is learned.
"""

import torch
from torch import Tensor

from engine.encodings.base.layer import PositionalEncoding, Positions, bias_matrices, cached_by_positions, offsets
from engine.encodings.sandwich import SandwichSettings
from engine.settings.base import BaseConfig


@cached_by_positions(maxsize=4)
def bias(
    n_heads: int,
    width: int,
    query_positions: Positions,
    key_positions: Positions,
    device: torch.device,
    dtype: torch.dtype,
) -> Tensor:
    """The bias of each head, [1, head, query, key], looked up by distance."""
    distances = offsets(query_positions, key_positions, device).abs()
    wavelengths = 10_000 ** (torch.arange(2, width + 1, 2, device=device) / width)
    by_distance = torch.arange(int(distances.max()) + 1, device=device)[:, None] / wavelengths
    ratios = torch.arange(1, n_heads + 1, device=device) * (8 / n_heads)
    product = by_distance.cos().sum(dim=1) - width / 2
    return (ratios[None, :, None, None] * product[distances]).to(dtype)


class Sandwich(PositionalEncoding):
    """Adds to each score the inner product of the sinusoids of query and key, times the ratio of the head."""

    def __init__(self, config: BaseConfig, settings: SandwichSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.n_heads, self.width = config.n_heads, settings.sandwich_width

    def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
        return bias(self.n_heads, self.width, query_positions, key_positions, q.device, q.dtype)

    def matrices(self, length: int) -> dict[str, Tensor]:
        at = range(length)
        return bias_matrices(bias(self.n_heads, self.width, at, at, torch.device("cpu"), torch.float32)[0])
