"""Dilated causal convolutions: each layer reads positions twice as far apart as the layer before.

Sources: van den Oord et al. 2016, WaveNet, section 2.1; Bai et al. 2018, An Empirical Evaluation of Generic Convolutional
and Recurrent Networks for Sequence Modeling, section 3.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import pad

from engine.architectures import KERNEL
from engine.config.run_config import RunConfig
from engine.model.activations import ActivationCache, record
from engine.model.block import ACTIVATIONS, Residual


class Convolutions(nn.Module):
    """Layers joined as a transformer's branches are, [batch, length, d_model] -> the same."""

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Convolution(config, 2**number) for number in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, cache: ActivationCache | None = None) -> Tensor:
        for layer_number, layer in enumerate(self.layers):
            x = layer(x)
            record(cache, f"decoder.{layer_number}.out", x)
        return self.norm(x)  # type: ignore[no-any-return]


class Convolution(nn.Module):
    """One residual branch, [batch, length, d_model] -> the same."""

    def __init__(self, config: RunConfig, dilation: int) -> None:
        super().__init__()
        self.reach = (KERNEL - 1) * dilation
        self.weights = nn.Conv1d(config.d_model, config.d_model, KERNEL, dilation=dilation)
        self.activation = ACTIVATIONS[config.activation]
        self.residual = Residual(config)

    def forward(self, x: Tensor) -> Tensor:
        read = self.residual.before(x).transpose(1, 2)  # [batch, length, d_model] -> [batch, d_model, length]
        # Padding at the front only: no later position reaches an earlier one.
        branch = self.activation(self.weights(pad(read, (self.reach, 0))))
        return self.residual.after(x, branch.transpose(1, 2))  # back to [batch, length, d_model]
