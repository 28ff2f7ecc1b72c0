"""The key-value cache: further tokens are read without recomputing those before them (Shazeer 2019, section 2.4).

The numbers equal those of a pass over the whole sequence, since under a causal mask no key or value depends on a later token.
"""

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor

from engine.encodings.base.layer import PositionalEncoding, Positions
from engine.model.attention import Attention, FirstValues, joined_bias
from engine.model.block import NOWHERE, Block
from engine.model.masks import Mask, causal_mask
from engine.model.precision import in_input_precision, lowered_dtype
from engine.model.transformer import Transformer


@dataclass
class KeyValueCache:
    """Keys and values of every layer so far, [batch, kv_head, position, d_head] each; the last tokens that a convolution still
    reads, over the embedding or in a layer, [batch, position, d_model]; and the encoder's output of an encoder-decoder, [batch,
    source position, d_model]."""

    length: int = 0
    keys: dict[int, Tensor] = field(default_factory=dict)
    values: dict[int, Tensor] = field(default_factory=dict)
    read: dict[int | str, Tensor] = field(default_factory=dict)
    memory: Tensor | None = None

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        if layer in self.keys:
            key, value = torch.cat([self.keys[layer], key], dim=2), torch.cat([self.values[layer], value], dim=2)
        self.keys[layer], self.values[layer] = key, value
        return key, value

    def recent(self, where: int | str, new: Tensor, before: int) -> Tensor:
        """The new tokens after as many earlier ones as are read there, [batch, position, d_model]."""
        if not before:
            return new
        read = torch.cat([self.read[where], new], dim=1) if where in self.read else new
        self.read[where] = read[:, -before:]
        return read

    @property
    def bytes(self) -> int:
        return sum(t.numel() * t.element_size() for tensors in (self.keys, self.values) for t in tensors.values())


@torch.no_grad()
@in_input_precision
def cached_logits(
    model: Transformer, tokens: Tensor, cache: KeyValueCache, positions: Positions | None = None
) -> Tensor:
    """The logits after further tokens, [batch, new] -> [batch, new, n_outputs]; of a decoder in evaluation mode.

    All tokens so far, with the new ones, are at ``positions``, else at 0, 1, 2 ... An empty cache takes any number of tokens at
    once, later calls one at a time.
    """
    stack, new = model.stack, tokens.shape[1]
    if cache.length and new > 1:
        raise ValueError(f"{new} new tokens were given; with {cache.length} in the cache, only one may be given.")
    at = positions or range(cache.length + new)
    first = stack.encoding_at(0)
    read = cache.recent("embedding", model.embedding(tokens), first.reads_before)
    x = first.add_to_embedding(read, at[len(at) - read.shape[1] :])[:, -new:]
    mask = causal_mask(new, "none", None, x.device, lowered_dtype(x)) if new > 1 else None
    first_values: FirstValues = []
    for layer in range(stack.depth):
        block = cast(Block, stack.blocks[layer % len(stack.blocks)])
        read = block.attention_residual.before(x)
        if block.mix is not None:
            read = read + block.mix(cache.recent(layer, read, block.mix.before))[:, -new:]
        mixed = _attend(block.attention, stack.encoding_at(layer), read, mask, cache, layer, at, first_values)
        x = block.attention_residual.after(x, mixed)
        if block.cross is not None and block.cross_residual is not None and cache.memory is not None:
            read = block.cross_residual.before(x)
            x = block.cross_residual.after(x, block.cross(read, cache.memory, None, NOWHERE, at))
        if block.mlp is not None and block.mlp_residual is not None:
            x = block.mlp_residual.after(x, block.mlp(block.mlp_residual.before(x)))
    cache.length += new
    logits: Tensor = model.head(stack.norm(x))
    return logits


def _attend(
    attention: Attention,
    encoding: PositionalEncoding,
    x: Tensor,
    mask: Mask | None,
    cache: KeyValueCache,
    layer: int,
    positions: Positions,
    first_values: FirstValues,
) -> Tensor:
    """The new queries attend to all keys so far, which are at ``positions``: [batch, new, d_model] -> the same."""
    here = positions[cache.length :]
    q, k, v = attention.project(x, x, first_values)
    q, k = attention.prepare(encoding.rotate(q, here), encoding.rotate_keys(k, here))
    keys, values = map(attention.for_each_query, cache.extend(layer, k, v))
    bias = joined_bias(encoding.score_bias(q, keys, here, positions), mask)
    _, _, pattern = attention.pattern(q, keys, bias, mask)
    mixed = pattern @ values
    term = encoding.value_term(pattern, here, positions)
    mixed = attention.gated(mixed if term is None else mixed + term, x)
    out: Tensor = attention.out(mixed.transpose(1, 2).flatten(2))
    return out
