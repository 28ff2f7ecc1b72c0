"""Key token: the answer is drawn first and the symbol made to fit, x_i = (y_i - j) mod V, so the rule holds next to the shortcut."""

from functools import lru_cache

import torch
from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData
from engine.tasks.key_token import KeyTokenSettings


@lru_cache(maxsize=16)
def shortcut_answers(length: int, symbols: int) -> Tensor:
    """Answers g(i) for each position, [length]: random, but the same in every run and at every length."""
    longest = torch.randint(symbols, (4096,), generator=torch.Generator().manual_seed(1))
    return longest[:length]


def draw(batch: int, length: int, settings: KeyTokenSettings, generator: torch.Generator) -> Tensor:
    symbols = settings.vocab_size
    rho = 1 / symbols if settings.shortcut is None else settings.shortcut
    key = torch.randint(symbols, (batch, 1), generator=generator)
    position = torch.randint(length, (batch, 1), generator=generator)
    by_position = shortcut_answers(length, symbols).expand(batch, -1)
    # Any of the other symbols, evenly.
    other = (by_position + torch.randint(1, symbols, (batch, length), generator=generator)) % symbols
    agrees = torch.rand(batch, length, generator=generator) < rho
    source = (torch.where(agrees, by_position, other) - key) % symbols
    return source.scatter(1, position, symbols + key)


def answer(source: Tensor, settings: KeyTokenSettings) -> Tensor:
    symbols = settings.vocab_size
    is_key = source >= symbols
    key = (source - symbols).clamp(min=0).sum(dim=1, keepdim=True)  # exactly one key a sequence
    return torch.where(is_key, IGNORE, (source + key) % symbols)


TASK = TaskData(answer, draw)
