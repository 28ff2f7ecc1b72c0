"""A model without attention (GRU, LSTM or CNN): token embedding, layers, and a linear head."""

from __future__ import annotations

from pkgutil import resolve_name

from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import Positions
from engine.model.activations import ActivationCache, record
from engine.model.dropout import Dropout
from engine.model.embedding import token_embedding


class Baseline(nn.Module):
    """Tokens in, one row of logits for each position out, called as :class:`engine.model.transformer.Transformer` is."""

    def __init__(self, config: RunConfig, *, n_tokens: int, n_outputs: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = token_embedding(config, n_tokens)
        self.dropout = Dropout(config.dropout)
        self.body: nn.Module = resolve_name(config.architecture.layers)(config)
        self.head = nn.Linear(config.d_model, n_outputs)

    def forward(
        self,
        inputs: Tensor,
        source: Tensor | None = None,
        token_mask: Tensor | None = None,
        cache: ActivationCache | None = None,
        positions: Positions | None = None,
        source_positions: Positions | None = None,
    ) -> Tensor:
        """Tokens [batch, length] -> logits [batch, length, n_outputs].

        ``token_mask`` changes nothing, since padding stands at the end and every family here reads earlier tokens only. Nor do
        ``positions``: tokens are read in their order.
        """
        x = self.dropout(self.embedding(inputs))
        record(cache, "embedding", x)
        logits: Tensor = self.head(self.body(x, cache))
        record(cache, "logits", logits)
        return logits
