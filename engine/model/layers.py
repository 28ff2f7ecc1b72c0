from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding


def token_embedding(config: RunConfig, n_tokens: int) -> nn.Embedding | SummedEmbedding:
    """An embedding [batch, length] -> [batch, length, d_model] with ``n_tokens`` rows that start at ``token_init_std``."""
    rows = nn.Embedding(n_tokens, config.d_model)
    nn.init.normal_(rows.weight, std=config.token_init_std)
    parts = config.task_settings.token_parts
    return rows if parts is None else SummedEmbedding(rows, parts)


def norm_layer(config: RunConfig, width: int, *, bias: bool = True) -> nn.LayerNorm | nn.RMSNorm:
    """A norm over vectors [..., width]; an RMSNorm never has a bias (Zhang and Sennrich 2019, Root Mean Square Layer Normalization,
    equation 4)."""
    if config.norm_kind == "rms":
        return nn.RMSNorm(width, eps=1e-5)  # LayerNorm's
    return nn.LayerNorm(width, bias=bias)


def positional_encoding(config: RunConfig, *, max_positions: int, causal: bool) -> PositionalEncoding:
    """One layer module of a config's encoding with its initial weights.

    ``max_positions``: positions met in training. ``causal``: true if the stack attends to earlier positions only.
    """
    build = resolve_name(config.encoding.layer)
    encoding: PositionalEncoding = build(config, config.encoding_settings, max_positions=max_positions, causal=causal)
    return encoding


class EncodingSwitch(nn.Module):
    """On while a stack applies its encoding. Stored with the weights: a run may pause before the encoding is dropped or after it."""

    def __init__(self) -> None:
        super().__init__()
        self.on = True

    def get_extra_state(self) -> Tensor:
        return torch.tensor(self.on)

    def set_extra_state(self, state: Tensor) -> None:
        self.on = bool(state)


def drop_encoding(model: nn.Module) -> None:
    """Switch the encoding off for good (Gelberg et al. 2025, arXiv 2512.12167)."""
    for module in model.modules():
        if isinstance(module, EncodingSwitch):
            module.on = False


class SummedEmbedding(nn.Module):
    """The embedding of tokens that are made of parts, [batch, length] -> [batch, length, d_model].

    ``parts``: for each token, the rows of the table whose sum is its vector.
    """

    parts: Tensor

    def __init__(self, table: nn.Embedding, parts: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.table = table
        self.register_buffer("parts", torch.tensor(parts), persistent=False)  # [token, part]

    def forward(self, tokens: Tensor) -> Tensor:
        # [token, part, d_model] -> [token, d_model]: few tokens exist, many are read.
        return embedding(tokens, self.table(self.parts).sum(dim=1))


class Dropout(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        # the other values are scaled up
        return torch.native_dropout(x, self.p, True)[0] if self.training and self.p > 0 else x


class PositionDropout(nn.Module):
    """Leaves out all positions of a share ``p`` of the sequences in training; nothing is scaled."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, tokens: Tensor, placed: Tensor) -> Tensor:
        """Token embeddings without and with positions, both [batch, length, d_model] -> one of the two for each sequence."""
        if not self.training or self.p == 0 or tokens is placed:
            return placed
        without = torch.rand(len(tokens), 1, 1, device=tokens.device) < self.p
        return torch.where(without, tokens, placed)
