"""The whole model: embedding, one stack of blocks (two for an encoder-decoder), and a linear head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from engine.encodings import ENCODINGS
from engine.encodings.base import PositionalEncoding, Positions
from engine.model.block import Block
from engine.model.dropout import Dropout, PositionDropout
from engine.model.embedding import token_embedding
from engine.model.look import Look, tap
from engine.model.masks import Mask, causal_mask, padding_mask

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class Stack(nn.Module):
    """Positions, blocks one after the other, and with pre-LN a last norm.

    With ``share_layers`` there is one block, used at every depth. An encoding that belongs to the layer (Shaw) comes
    once a block, any other once a stack.
    """

    def __init__(self, config: RunConfig, name: str, *, max_positions: int, cross: bool = False) -> None:
        super().__init__()
        row = ENCODINGS[config.pos_encoding]
        self.name = name
        self.tap_name = "embedding" if name == config.family or name == "decoder" else "source_embedding"
        self.depth = config.n_layers
        self.causal = name == "decoder"
        self.mask_fault = config.mask_fault
        n_blocks = 1 if config.share_layers else config.n_layers
        self.blocks = nn.ModuleList(Block(config, cross=cross) for _ in range(n_blocks))
        encoding = row.load()
        self.encodings = nn.ModuleList(
            encoding(config, max_positions=max_positions, causal=self.causal)
            for _ in range(n_blocks if row.per_layer else 1)
        )
        self.dropout = Dropout(config.dropout)
        self.position_dropout = PositionDropout(config.position_dropout)
        self.norm = nn.LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    @property
    def encoding(self) -> PositionalEncoding:
        """The encoding, or the first layer's."""
        return self.encodings[0]  # type: ignore[return-value]

    def forward(
        self,
        x: Tensor,
        positions: Positions,
        padding: Tensor | None,
        source: Tensor | None = None,
        source_mask: Mask | None = None,
        look: Look = None,
    ) -> Tensor:
        """Token embeddings [batch, length, d_model] -> the same, with context."""
        x = self.dropout(self.position_dropout(x, self.encoding.add_to_embedding(x, positions, padding)))
        tap(look, self.tap_name, x)
        mask = self._mask(len(positions), padding, x)
        for layer in range(self.depth):
            block = self.blocks[layer % len(self.blocks)]
            encoding = self.encodings[layer % len(self.encodings)]
            x = block(x, mask, encoding, positions, source, source_mask, look, f"{self.name}.{layer}")
        return self.norm(x)  # type: ignore[no-any-return]

    def _mask(self, length: int, padding: Tensor | None, x: Tensor) -> Mask | None:
        if self.causal:
            return causal_mask(length, self.mask_fault, padding, x.device, x.dtype)
        return padding_mask(padding, x.dtype)


class Transformer(nn.Module):
    """Tokens in, one row of logits for each position out.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3; families as the config names them.
    """

    def __init__(self, config: RunConfig, *, n_tokens: int, n_outputs: int, max_positions: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = token_embedding(config, n_tokens)
        two = config.family == "encoder_decoder"
        self.source_stack = Stack(config, "encoder", max_positions=max_positions) if two else None
        name = "encoder" if config.family == "encoder" else "decoder"
        self.stack = Stack(config, name, max_positions=max_positions, cross=two)
        self.head = nn.Linear(config.d_model, n_outputs)

    @property
    def encoding(self) -> PositionalEncoding:
        """The positional encoding of the stack that writes the answer (the first layer's, where each has one)."""
        return self.stack.encoding

    def forward(
        self,
        inputs: Tensor,
        source: Tensor | None = None,
        padding: Tensor | None = None,
        source_padding: Tensor | None = None,
        look: Look = None,
        first_position: int = 0,
        positions: Positions | None = None,
        source_positions: Positions | None = None,
    ) -> Tensor:
        """Tokens [batch, length] -> logits [batch, length, n_outputs].

        ``source`` [batch, source length] is what an encoder-decoder translates. ``padding`` and ``source_padding``, of
        the shapes of the tokens, are True where a real token stands. A dictionary given as ``look`` is filled with
        inner tensors by name, in the order computed; attention is then written out, with the same numbers. The tokens
        stand at ``positions`` [length] and ``source_positions`` [source length], else one after the other from
        ``first_position``.

        Raises NoRow where a learned table has no row for a position.
        """
        memory = memory_mask = None
        if self.source_stack is not None:
            if source is None:
                raise ValueError("family encoder_decoder needs a source sequence beside its inputs.")
            source_at = source_positions or range(first_position, first_position + source.shape[1])
            memory = self.source_stack(self.embedding(source), source_at, source_padding, look=look)
            memory_mask = padding_mask(source_padding, memory.dtype)
        at = positions or range(first_position, first_position + inputs.shape[1])
        x = self.stack(self.embedding(inputs), at, padding, memory, memory_mask, look)
        logits: Tensor = self.head(x)
        tap(look, "logits", logits)
        return logits
