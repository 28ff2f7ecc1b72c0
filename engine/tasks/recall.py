"""Associative recall: 0 7 1 5 0 → · · · · 7. Pairs of key and value, then a key: name its value.

The lower half of the symbols are keys, the others values. Each sequence has a table of its own from keys to values; no
key is written twice before all were. An even length repeats the question. Source: Ba et al. 2016, Using Fast Weights to
Attend to the Recent Past, section 4.1.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule


def n_pairs(length: int) -> int:
    return (length - 1) // 2


def draw(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    n_keys = settings.vocab_size // 2
    table = torch.randint(n_keys, settings.vocab_size, (batch, n_keys), generator=generator)
    order = torch.rand(batch, n_keys, generator=generator).argsort(dim=1)
    keys = order[:, torch.arange(n_pairs(length)) % n_keys]  # [batch, pair]
    pairs = torch.stack([keys, table.gather(1, keys)], dim=2).flatten(1)  # [batch, pair, 2] -> [batch, 2 * pair]
    chosen = torch.randint(n_pairs(length), (batch, 1), generator=generator)
    question = keys.gather(1, chosen).expand(-1, length - pairs.size(1))
    return torch.cat([pairs, question], dim=1)


def answer(source: Tensor, settings: Any) -> Tensor:
    written = 2 * n_pairs(source.size(1))
    keys, values = source[:, 0:written:2], source[:, 1:written:2]  # [batch, pair]
    place = (keys == source[:, -1:]).long().argmax(dim=1, keepdim=True)
    asked = torch.full_like(source, IGNORE)
    asked[:, -1:] = values.gather(1, place)
    return asked


def chance(settings: Any, length: int, n_outputs: int) -> float:
    n_values: int = settings.vocab_size - settings.vocab_size // 2
    return 1 / n_values


TASK = TaskRule(answer=answer, draw=draw, chance=chance)
