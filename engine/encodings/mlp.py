"""A small network on the position itself: h_i^(0) = E[x_i] + MLP(i / n), with n the trained length.

Such a network learns smooth functions first and sharp ones late or never (Tancik et al. 2020, Fourier Features Let Networks
Learn High Frequency Functions in Low Dimensional Domains): what learned Fourier features are for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn
from torch.nn.functional import gelu

from engine.encodings.base import PositionalEncoding, Positions, index_of, rows_picture
from engine.encodings.dense import Dense, at_least_single, root_mean_square

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class PositionMlp(PositionalEncoding):
    """A smooth curve through the space of embeddings, parametrised by the position."""

    def __init__(self, config: RunConfig, *, max_positions: int, causal: bool | None = None) -> None:
        super().__init__()
        width, depth = int(config.value("position_mlp_width")), int(config.value("position_mlp_layers"))
        self.trained = max_positions
        self.hidden = nn.ModuleList(Dense(width if layer else 1, width) for layer in range(depth))
        self.out = Dense(width, config.d_model)
        std = config.value("encoding_init_std")
        self.out.scale(
            (config.token_init_std if std is None else std) / root_mean_square(self.rows(range(max_positions)))
        )

    def rows(self, positions: Positions) -> Tensor:
        """[position, d_model]"""
        at = index_of(positions, self.out.weight.device)[:, None].to(at_least_single(self.out.weight)) / self.trained
        for layer in self.hidden:
            at = gelu(layer(at))  # [position, width]
        rows: Tensor = self.out(at)
        return rows

    def add_to_embedding(self, x: Tensor, positions: Positions, padding: Tensor | None = None) -> Tensor:
        return x + self.rows(positions).to(x.dtype)

    def picture(self, length: int) -> dict[str, Tensor]:
        return rows_picture(self.rows(range(length)))
