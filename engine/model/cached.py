"""Writing one token at a time without recomputing the past: keys and values are kept (Shazeer 2019, section 2.4).

The same numbers as a pass over the whole sequence, since under a causal mask no key or value depends on a later token.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor

from engine.encodings.base import PositionalEncoding
from engine.model.attention import Attention
from engine.model.block import Block
from engine.model.transformer import Transformer


@dataclass
class Cache:
    """Keys and values of every layer so far, [batch, head, position, d_head] each; and the embedded tokens that the
    encoding still reads, [batch, position, d_model]."""

    length: int = 0
    keys: dict[int, Tensor] = field(default_factory=dict)
    values: dict[int, Tensor] = field(default_factory=dict)
    embedded: Tensor | None = None

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        if layer in self.keys:
            key, value = torch.cat([self.keys[layer], key], dim=2), torch.cat([self.values[layer], value], dim=2)
        self.keys[layer], self.values[layer] = key, value
        return key, value

    @property
    def bytes(self) -> int:
        return sum(t.numel() * t.element_size() for kept in (self.keys, self.values) for t in kept.values())


@torch.no_grad()
def next_logits(model: Transformer, token: Tensor, cache: Cache) -> Tensor:
    """The logits after one more token, [batch, 1] -> [batch, 1, n_outputs]; of a decoder in evaluation mode."""
    stack, place = model.stack, cache.length
    read = _recent(stack.encoding, model.embedding(token), cache)
    x = stack.encoding.add_to_embedding(read, range(place + 1 - read.shape[1], place + 1))[:, -1:]
    for layer in range(stack.depth):
        block = cast(Block, stack.blocks[layer % len(stack.blocks)])
        encoding = cast(PositionalEncoding, stack.encodings[layer % len(stack.encodings)])
        read = block.attention_residual.before(x)
        mixed = _attend(block.attention, encoding, read, cache, layer)
        x = block.attention_residual.after(x, mixed)
        if block.mlp is not None and block.mlp_residual is not None:
            x = block.mlp_residual.after(x, block.mlp(block.mlp_residual.before(x)))
    cache.length += 1
    logits: Tensor = model.head(stack.norm(x))
    return logits


def _recent(encoding: PositionalEncoding, token: Tensor, cache: Cache) -> Tensor:
    """The token after those before it that the encoding reads, [batch, position, d_model]."""
    if not encoding.reads_before:
        return token
    read = token if cache.embedded is None else torch.cat([cache.embedded, token], dim=1)
    cache.embedded = read[:, -encoding.reads_before :]
    return read


def _attend(attention: Attention, encoding: PositionalEncoding, x: Tensor, cache: Cache, layer: int) -> Tensor:
    """[batch, 1, d_model] -> the same: one query over all keys so far."""

    def split(t: Tensor) -> Tensor:
        # [batch, 1, head * d_head] -> [batch, head, 1, d_head]
        return t.view(*t.shape[:2], attention.n_heads, -1).transpose(1, 2)

    here, so_far = range(cache.length, cache.length + 1), range(cache.length + 1)
    q, k = encoding.rotate(split(attention.q(x)), here), encoding.rotate_keys(split(attention.k(x)), here)
    q, k = attention.prepare(q, k)
    keys, values = cache.extend(layer, k, split(attention.v(x)))
    _, _, pattern = attention.pattern(q, keys, encoding.score_bias(q, keys, here, so_far), None)
    mixed = pattern @ values
    term = encoding.value_term(pattern, here, so_far)
    out: Tensor = attention.out((mixed if term is None else mixed + term).transpose(1, 2).flatten(2))
    return out
