"""Recurrent layers: each position is computed from its input and the state after the position before.

Sources: Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder, section 2.3 (GRU); Hochreiter and
Schmidhuber 1997, Long Short-Term Memory, with the forget gate of Gers et al. 2000. PyTorch's variants, in which each gate
has two biases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.model.activations import ActivationCache, record
from engine.model.dropout import Dropout

State: TypeAlias = Tensor | tuple[Tensor, Tensor] | None
"""The state that a layer passes from one position to the next: [1, batch, d_model]; for an LSTM, two of them."""


class Recurrent(nn.Module):
    """Layers of one kind in sequence, [batch, length, d_model] -> the same. Causal by construction."""

    kind: type[nn.GRU] | type[nn.LSTM]

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        width = config.d_model
        self.layers = nn.ModuleList(self.kind(width, width, batch_first=True) for _ in range(config.n_layers))
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, cache: ActivationCache | None = None) -> Tensor:
        return self.resume(x, (None,) * len(self.layers), cache)[0]

    def resume(
        self, x: Tensor, states: Sequence[State], cache: ActivationCache | None = None
    ) -> tuple[Tensor, list[State]]:
        """The output after earlier tokens, after which the layers were in ``states`` (None: there are none); and the
        states after these tokens."""
        left: list[State] = []
        for layer_number, (layer, state) in enumerate(zip(self.layers, states, strict=True)):
            x, state = layer(x, state)
            x = self.dropout(x)
            left.append(state)
            record(cache, f"decoder.{layer_number}.out", x)
        return x, left


class Gru(Recurrent):
    kind = nn.GRU


class Lstm(Recurrent):
    kind = nn.LSTM
