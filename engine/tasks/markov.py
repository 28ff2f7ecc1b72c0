"""Markov: name the next symbol of a source in which it depends on the last two: 3 1 4 → · 4 ·

After 3 1 came 4. The first symbol alone is not asked about, nor what follows the last. The source is a table drawn once;
what it leaves open no model can know, so a loss below that floor on trained sequences is memory.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from engine.tasks.markov_source import source_of
from engine.tasks.rule import IGNORE, TaskRule


def draw(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    """Sequences of the source in its long run, [batch, length]: the first two symbols together, then one by one."""
    source, v = source_of(settings), settings.vocab_size
    cumulative = torch.from_numpy(source.table.cumsum(axis=2))  # [first, second, next]
    pairs = torch.from_numpy(source.pairs).flatten()  # [first * second]
    start = torch.multinomial(pairs, batch, replacement=True, generator=generator)
    symbols = [start // v, start % v]
    for _ in range(length - 2):
        level = torch.rand(batch, 1, generator=generator, dtype=torch.float64)
        following = (level > cumulative[symbols[-2], symbols[-1]]).sum(dim=1)  # [batch]
        symbols.append(following.clamp(max=v - 1))  # the last sum may fall short of one by rounding
    return torch.stack(symbols, dim=1)


def answer(source: Tensor, settings: Any) -> Tensor:
    following = source.roll(-1, dims=1)
    following[:, 0] = following[:, -1] = IGNORE
    return following


def chance(settings: Any, length: int, n_outputs: int) -> float:
    return source_of(settings).commonest


def distinct(settings: Any, length: int) -> float:
    """As many as a uniform choice of the same entropy would have (Cover and Thomas 2006, theorem 3.1.2)."""
    return math.exp(min(700.0, source_of(settings).entropy_rate * length))


TASK = TaskRule(answer=answer, draw=draw, chance=chance, distinct=distinct)
