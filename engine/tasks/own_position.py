"""Own position: 3 1 4 → 0 1 2. The symbols carry no information; only an encoding, or a causal mask with an
anchor to count from, can tell.

The padded variant draws a length from 1 to n for each sequence: 3 1 · → 0 1 ·, where · is padding that no
position may attend to. The constant variant reads one symbol everywhere: 0 0 0 → 0 1 2.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule, any_symbols, uniform_symbols

PAD = 1
"""The padding token lies one above the begin-of-sequence token, which lies just above the symbols."""


def draw(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    if settings.variant == "constant":
        return torch.zeros(batch, length, dtype=torch.long)
    source = uniform_symbols(batch, length, settings, generator)
    if settings.variant == "padded":
        lengths = torch.randint(1, length + 1, (batch, 1), generator=generator)
        source[torch.arange(length) >= lengths] = settings.vocab_size + PAD
    return source


def answer(source: Tensor, settings: Any) -> Tensor:
    positions = torch.arange(source.size(1)).expand_as(source)
    return torch.where(source == settings.vocab_size + PAD, IGNORE, positions)


def chance(settings: Any, length: int, n_outputs: int) -> float:
    """Position 0 is the commonest: of n lengths it occurs in all, of n(n+1)/2 places."""
    return 2 / (length + 1) if settings.variant == "padded" else 1 / length


def distinct(settings: Any, length: int) -> float:
    return 1.0 if settings.variant == "constant" else any_symbols(settings, length)


TASK = TaskRule(answer=answer, draw=draw, chance=chance, distinct=distinct, pad=PAD)
