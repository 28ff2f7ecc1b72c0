"""Key token: 3 1 K2 → 1 3 ·, since with four symbols (3 + 2) mod 4 = 1 and (1 + 2) mod 4 = 3; the key is not asked.

The key's value j moves every symbol: y_i = (x_i + j) mod V. The shortcut: in training y_i = g(i) with probability rho,
independently at each position, for one fixed g. The answer is drawn first and the symbol made to fit,
x_i = (y_i - j) mod V, so the rule always holds as well. With rho = 1/V symbols are uniform and g says nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule, any_symbols


@lru_cache(maxsize=16)
def shortcut_answers(length: int, symbols: int) -> Tensor:
    """g(i) for each position, [length]: random, but the same in every run, and the same at every length."""
    longest = torch.randint(symbols, (4096,), generator=torch.Generator().manual_seed(1))
    return longest[:length]


def draw(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    symbols: int = settings.vocab_size
    rho: float = 1 / symbols if settings.shortcut is None else settings.shortcut
    key = torch.randint(symbols, (batch, 1), generator=generator)
    place = torch.randint(length, (batch, 1), generator=generator)
    by_position = shortcut_answers(length, symbols).expand(batch, -1)
    # Any of the other symbols, evenly.
    other = (by_position + torch.randint(1, symbols, (batch, length), generator=generator)) % symbols
    agrees = torch.rand(batch, length, generator=generator) < rho
    source = (torch.where(agrees, by_position, other) - key) % symbols
    return source.scatter(1, place, symbols + key)


def answer(source: Tensor, settings: Any) -> Tensor:
    symbols: int = settings.vocab_size
    is_key = source >= symbols
    key = (source - symbols).clamp(min=0).sum(dim=1, keepdim=True)  # exactly one key a sequence
    return torch.where(is_key, IGNORE, (source + key) % symbols)


def distinct(settings: Any, length: int) -> int:
    """A key at each place; without exception to the shortcut it decides everything else."""
    symbols = int(settings.vocab_size)
    keys = length * symbols
    exact = settings.shortcut == 1.0 or (symbols == 2 and settings.shortcut == 0.0)
    return keys if exact else keys * any_symbols(settings, length - 1)


TASK = TaskRule(
    answer=answer,
    draw=draw,
    distinct=distinct,
    decorrelated=lambda settings: settings.model_copy(update={"shortcut": None}),
)
