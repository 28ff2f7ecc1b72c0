"""A model without attention: embedding, the family's layers, and a linear head, as the transformer has them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from torch import Tensor, nn

from engine.architectures import ARCHITECTURES
from engine.encodings.base import Positions
from engine.model.dropout import Dropout
from engine.model.embedding import token_embedding
from engine.model.look import Look, tap

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class Baseline(nn.Module):
    """Tokens in, one row of logits for each position out; called as :class:`engine.model.transformer.Transformer` is."""

    def __init__(self, config: RunConfig, *, n_tokens: int, n_outputs: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = token_embedding(config, n_tokens)
        self.dropout = Dropout(config.dropout)
        module, _, class_name = ARCHITECTURES[config.family].layers.partition(":")
        self.body = getattr(import_module(module), class_name)(config)
        self.head = nn.Linear(config.d_model, n_outputs)

    def forward(
        self,
        inputs: Tensor,
        source: Tensor | None = None,
        padding: Tensor | None = None,
        look: Look = None,
        positions: Positions | None = None,
        source_positions: Positions | None = None,
    ) -> Tensor:
        """Tokens [batch, length] -> logits [batch, length, n_outputs].

        ``padding`` changes nothing: it stands at the end, and every family here looks back only. Nor do ``positions``:
        tokens are read in their order.
        """
        x = self.dropout(self.embedding(inputs))
        tap(look, "embedding", x)
        logits: Tensor = self.head(self.body(x, look))
        tap(look, "logits", logits)
        return logits
