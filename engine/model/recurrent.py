"""Recurrent layers: each position is computed from its input and the state that the position before left.

Sources: Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder, section 2.3 (GRU); Hochreiter and
Schmidhuber 1997, Long Short-Term Memory, with the forget gate of Gers et al. 2000. PyTorch's variants, in which each gate
has two biases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from engine.model.dropout import Dropout
from engine.model.look import Look, tap

if TYPE_CHECKING:
    from engine.config import RunConfig


class Recurrent(nn.Module):
    """Layers of one kind, one after the other, [batch, length, d_model] -> the same. Causal by construction."""

    kind: type[nn.GRU] | type[nn.LSTM]

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        width = config.d_model
        self.layers = nn.ModuleList(self.kind(width, width, batch_first=True) for _ in range(config.n_layers))
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, look: Look = None) -> Tensor:
        for place, layer in enumerate(self.layers):
            x = self.dropout(layer(x)[0])
            tap(look, f"decoder.{place}.out", x)
        return x


class Gru(Recurrent):
    kind = nn.GRU


class Lstm(Recurrent):
    kind = nn.LSTM
