"""A small network on the position itself: h_i^(0) = E[x_i] + MLP(i / n), with n the trained length.

Such a network learns smooth functions first and sharp ones late or never; learned Fourier features are the remedy (Tancik et al. 2020,
Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional Domains).
"""

from torch import Tensor, nn
from torch.nn.functional import gelu

from engine.encodings.base.layer import AddedRows, Positions, index_of
from engine.encodings.base.modules import Dense, at_least_single, root_mean_square
from engine.encodings.mlp import PositionMlpSettings
from engine.settings.base import BaseConfig


class PositionMlp(AddedRows):
    def __init__(self, config: BaseConfig, settings: PositionMlpSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        width, depth = settings.position_mlp_width, settings.position_mlp_layers
        self.trained = max_positions
        self.hidden = nn.ModuleList(Dense(width if layer else 1, width) for layer in range(depth))
        self.out = Dense(width, config.d_model)
        std = config.token_init_std if settings.encoding_init_std is None else settings.encoding_init_std
        self.out.scale(std / root_mean_square(self.rows(range(max_positions))))

    def rows(self, positions: Positions) -> Tensor:
        at = index_of(positions, self.out.weight.device)[:, None].to(at_least_single(self.out.weight)) / self.trained
        for layer in self.hidden:
            at = gelu(layer(at))  # [position, width]
        rows: Tensor = self.out(at)
        return rows
