"""Models without attention (GRU, LSTM or CNN): token embedding, layers, and a linear head.

Sources of the recurrent layers: Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder, section 2.3 (GRU);
Hochreiter and Schmidhuber 1997, Long Short-Term Memory, with the forget gate of Gers et al. 2000; PyTorch's variants, in which each
gate has two biases. Of the convolutions: van den Oord et al. 2016, WaveNet, section 2.1; Bai et al. 2018, An Empirical Evaluation
of Generic Convolutional and Recurrent Networks for Sequence Modeling, section 3.
"""

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import TypeAlias

from torch import Tensor, nn
from torch.nn.functional import pad

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import Positions
from engine.model.activations import ActivationCache, record
from engine.model.block import ACTIVATIONS, Residual
from engine.model.layers import Dropout, norm_layer, token_embedding
from engine.model.precision import in_input_precision
from engine.settings.architectures import KERNEL

# the state that a layer passes from one position to the next: [1, batch, d_model]; for an LSTM, two of them
RecurrentState: TypeAlias = Tensor | tuple[Tensor, Tensor] | None


class Baseline(nn.Module):
    """A model that is called as :class:`engine.model.transformer.Transformer` is."""

    def __init__(self, config: RunConfig, *, n_tokens: int, n_outputs: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = token_embedding(config, n_tokens)
        self.dropout = Dropout(config.dropout)
        self.body: nn.Module = resolve_name(config.architecture.layers)(config)
        self.head = nn.Linear(config.d_model, n_outputs)

    @in_input_precision
    def forward(
        self,
        inputs: Tensor,
        source: Tensor | None = None,
        token_mask: Tensor | None = None,
        cache: ActivationCache | None = None,
        positions: Positions | None = None,
        source_positions: Positions | None = None,
    ) -> Tensor:
        """Tokens [batch, length] -> logits [batch, length, n_outputs]."""
        # token_mask changes nothing: padding is at the end, and every family here reads earlier tokens only, in their order
        x = self.dropout(self.embedding(inputs))
        record(cache, "embedding", x)
        logits: Tensor = self.head(self.body(x, cache))
        record(cache, "logits", logits)
        return logits

    @in_input_precision
    def resume(self, tokens: Tensor, states: Sequence[RecurrentState] = ()) -> tuple[Tensor, list[RecurrentState]]:
        """The logits after the last of further tokens, [batch, new] -> [batch, n_outputs], and the states of the recurrent layers
        after it. ``states``: after the tokens before; empty at the start."""
        assert isinstance(self.body, Recurrent)
        x, states_after = self.body.resume(self.embedding(tokens), states or [None] * len(self.body.layers))
        return self.head(x[:, -1]), states_after

    @in_input_precision
    def logits_of(self, residual: Tensor) -> Tensor:
        """The logits for the output of any layer, as :meth:`engine.model.transformer.Transformer.logits_of`."""
        logits: Tensor = self.head(self.body.norm(residual))  # type: ignore[operator]
        return logits


class Recurrent(nn.Module):
    """Layers [batch, length, d_model] -> the same, causal by construction."""

    kind: type[nn.GRU] | type[nn.LSTM]

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        width = config.d_model
        self.layers = nn.ModuleList(self.kind(width, width, batch_first=True) for _ in range(config.n_layers))
        self.dropout = Dropout(config.dropout)
        self.norm = nn.Identity()

    def forward(self, x: Tensor, cache: ActivationCache | None = None) -> Tensor:
        return self.resume(x, (None,) * len(self.layers), cache)[0]

    def resume(
        self, x: Tensor, states: Sequence[RecurrentState], cache: ActivationCache | None = None
    ) -> tuple[Tensor, list[RecurrentState]]:
        """The output after earlier tokens, which left the layers in ``states`` (None: there are none), and the states after these
        tokens."""
        states_after: list[RecurrentState] = []
        for layer_number, (layer, state) in enumerate(zip(self.layers, states, strict=True)):
            x, state = layer(x, state)
            x = self.dropout(x)
            states_after.append(state)
            record(cache, f"decoder.{layer_number}.out", x)
        return x, states_after


class Gru(Recurrent):
    kind = nn.GRU


class Lstm(Recurrent):
    kind = nn.LSTM


class Convolutions(nn.Module):
    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(ConvolutionLayer(config, number) for number in range(config.n_layers))
        self.norm = norm_layer(config, config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, cache: ActivationCache | None = None) -> Tensor:
        for layer_number, layer in enumerate(self.layers):
            x = layer(x)
            record(cache, f"decoder.{layer_number}.out", x)
        return self.norm(x)  # type: ignore[no-any-return]


class ConvolutionLayer(nn.Module):
    def __init__(self, config: RunConfig, layer: int) -> None:
        super().__init__()
        dilation = 2**layer
        self.reach = (KERNEL - 1) * dilation
        self.weights = nn.Conv1d(config.d_model, config.d_model, KERNEL, dilation=dilation)
        self.activation = ACTIVATIONS[config.activation]
        self.residual = Residual(config, layer)

    def forward(self, x: Tensor) -> Tensor:
        read = self.residual.before(x).transpose(1, 2)  # [batch, length, d_model] -> [batch, d_model, length]
        # Padding at the front only: no later position reaches an earlier one.
        branch = self.activation(self.weights(pad(read, (self.reach, 0))))
        return self.residual.after(x, branch.transpose(1, 2))  # back to [batch, length, d_model]
