"""Content offset: 3₁ 1₁ 4₂ → · 3 3. Each token carries a symbol c and an offset o and asks for the symbol that stands o
positions earlier: y_i = c_(i - o_i). The relation is relative, but the content decides which.

A token's number is c + vocabulary * (o - 1). Where i - o_i lies before the sequence nothing is asked.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def draw(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    """Symbols and offsets drawn independently and uniformly, [batch, length]."""
    return torch.randint(settings.vocab_size * settings.max_offset, (batch, length), generator=generator)


def answer(source: Tensor, settings: Any) -> Tensor:
    symbols, offsets = source % settings.vocab_size, source // settings.vocab_size + 1
    asked = torch.arange(source.size(1)) - offsets  # [batch, length]
    return torch.where(asked < 0, IGNORE, symbols.gather(1, asked.clamp(min=0)))


def token_name(settings: Any, token: int) -> str:
    offset, symbol = divmod(token, settings.vocab_size)
    return str(symbol) + str(offset + 1).translate(SUBSCRIPTS)


TASK = TaskRule(answer=answer, draw=draw, token_name=token_name)
