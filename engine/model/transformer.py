"""The transformer: token embedding, one stack of blocks (two for an encoder-decoder), and a linear head."""

from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, Positions
from engine.model.activations import ActivationCache, record
from engine.model.attention import FirstValues
from engine.model.block import NOWHERE, Block
from engine.model.layers import (
    Dropout,
    EncodingSwitch,
    PositionDropout,
    norm_layer,
    positional_encoding,
    token_embedding,
)
from engine.model.masks import causal_mask, padding_mask
from engine.model.precision import in_input_precision, lowered, lowered_dtype


class Stack(nn.Module):
    """One stack: a positional encoding, a sequence of blocks, and with pre-LN a final norm.

    With ``share_layers`` there is one block, used at every depth. An encoding with ``per_layer`` in its spec (Shaw, CoPE) has a
    module for each block, any other has one for the stack. The inner tensors are recorded under ``name``: ``encoder`` or
    ``decoder``.
    """

    def __init__(self, config: RunConfig, name: str, *, max_positions: int, cross: bool = False) -> None:
        super().__init__()
        self.name = name
        self.embedding_name = "embedding" if name == config.family or name == "decoder" else "source_embedding"
        self.depth = config.n_layers
        self.causal = name == "decoder"
        self.mask_fault = config.mask_fault
        n_blocks = 1 if config.share_layers else config.n_layers
        self.blocks = nn.ModuleList(Block(config, layer, cross=cross) for layer in range(n_blocks))
        self.encodings = nn.ModuleList(
            positional_encoding(config, max_positions=max_positions, causal=self.causal)
            for _ in range(n_blocks if config.encoding.per_layer else 1)
        )
        self.switch = EncodingSwitch() if config.drop_encoding_at < 1.0 else None
        self.dropout = Dropout(config.dropout)
        self.position_dropout = PositionDropout(config.position_dropout)
        self.norm = norm_layer(config, config.d_model) if config.norm == "pre" else nn.Identity()

    @property
    def encoding(self) -> PositionalEncoding:
        """The encoding of the first layer if each has its own; also after it was dropped."""
        return self.encodings[0]  # type: ignore[return-value]

    def encoding_at(self, layer: int) -> PositionalEncoding:
        """The encoding that acts in a layer: :data:`NOWHERE` after it was dropped."""
        if self.switch is not None and not self.switch.on:
            return NOWHERE
        return self.encodings[layer % len(self.encodings)]  # type: ignore[return-value]

    def forward(
        self,
        x: Tensor,
        positions: Positions,
        token_mask: Tensor | None,
        source: Tensor | None = None,
        cache: ActivationCache | None = None,
    ) -> Tensor:
        """Token embeddings [batch, length, d_model] -> the output of the last block, [batch, length, d_model].

        Cross-attention reads ``source`` [batch, source length, d_model].
        """
        x = self.dropout(self.position_dropout(x, self.encoding_at(0).add_to_embedding(x, positions, token_mask)))
        record(cache, self.embedding_name, x)
        dtype = lowered_dtype(x)
        mask = padding_mask(token_mask, dtype)
        if self.causal:
            mask = causal_mask(len(positions), self.mask_fault, token_mask, x.device, dtype)
        first_values: FirstValues = []
        for layer in range(self.depth):
            block = self.blocks[layer % len(self.blocks)]
            encoding = self.encoding_at(layer)
            x = block(x, mask, encoding, positions, source, cache, f"{self.name}.{layer}", first_values)
        return self.norm(x)  # type: ignore[no-any-return]


class Transformer(nn.Module):
    """A transformer of any of the three families: tokens in, one row of logits for each position out.

    Source: Vaswani et al. 2017, Attention Is All You Need, section 3; the families are those of
    :mod:`engine.settings.architectures`.
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
        return self.stack.encoding

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
        """Tokens [batch, length] -> logits [batch, length, n_outputs].

        ``source`` [batch, source length] is the input of an encoder-decoder's encoder. ``token_mask`` [batch, length] is True for a
        real token. A dictionary given as ``cache`` is filled with inner tensors by name, in the order in which they are computed;
        attention is then written out, with the same numbers. ``positions`` [length] and ``source_positions`` [source length] are
        the positions of the tokens; by default they count up from 0.

        Raises PositionOutOfRange if a learned table has no row for a position.
        """
        memory = None
        if self.source_stack is not None:
            if source is None:
                raise ValueError("family encoder_decoder needs a source sequence and inputs.")
            memory = self.encode(source, source_positions or range(source.shape[1]), cache)
        at = positions or range(inputs.shape[1])
        x = self.stack(self.embedding(inputs), at, token_mask, memory, cache)
        logits: Tensor = self.head(x)
        record(cache, "logits", logits)
        return logits

    @in_input_precision
    def encode(self, source: Tensor, positions: Positions, cache: ActivationCache | None = None) -> Tensor:
        """Tokens [batch, source length] -> the output of an encoder-decoder's encoder, [batch, source length, d_model]."""
        assert self.source_stack is not None
        return lowered(self.source_stack(self.embedding(source), positions, None, cache=cache))

    @in_input_precision
    def logits_of(self, residual: Tensor) -> Tensor:
        """The logits that the head gives for the residual stream after any layer, [batch, length, d_model] -> [batch, length,
        n_outputs].

        Source: nostalgebraist 2020, interpreting GPT: the logit lens.
        """
        logits: Tensor = self.head(self.stack.norm(residual))
        return logits
