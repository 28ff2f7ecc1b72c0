"""Sinusoids added to the embedding: P[i, 2j] = sin(i b^(-2j/d)), P[i, 2j+1] = cos(i b^(-2j/d)).

Source: Vaswani et al. 2017, Attention Is All You Need, section 3.5. ``interleaved`` is the paper's layout;
``halves`` puts all sines before all cosines. Either way P_i . P_k = sum_j cos((i - k) b^(-2j/d)): it depends on the
offset alone.
"""

import torch
from torch import Tensor

from engine.encodings.base.layer import PositionalEncoding, Positions, cached_by_positions, index_of, row_matrices
from engine.encodings.base.rotation import geometric_frequencies
from engine.encodings.sinusoidal import SinusoidalSettings
from engine.settings.base import BaseConfig


@cached_by_positions(maxsize=16)
def table(
    positions: Positions, d_model: int, base: float, layout: str, device: torch.device, dtype: torch.dtype
) -> Tensor:
    """The sinusoids, [position, d_model]."""
    # float64 until the end: single precision would lose the angle of late positions
    angles = index_of(positions, torch.device("cpu"))[:, None] * geometric_frequencies(
        d_model, base
    )  # [position, d_model / 2]
    pairs = torch.stack([angles.sin(), angles.cos()])  # [2, position, d_model / 2]
    order = (1, 2, 0) if layout == "interleaved" else (1, 0, 2)
    return pairs.permute(order).reshape(len(positions), d_model).to(device, dtype)


class Sinusoidal(PositionalEncoding):
    def __init__(self, config: BaseConfig, settings: SinusoidalSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        self.d_model = config.d_model
        self.base = settings.sinusoid_base
        self.layout = settings.sinusoid_layout

    def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:
        return x + table(positions, self.d_model, self.base, self.layout, x.device, x.dtype)

    def added_frequencies(self) -> Tensor:
        return geometric_frequencies(self.d_model, self.base)

    def matrices(self, length: int) -> dict[str, Tensor]:
        return row_matrices(
            table(range(length), self.d_model, self.base, self.layout, torch.device("cpu"), torch.float32)
        )
