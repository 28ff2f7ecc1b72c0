"""What a task is: how its sequences are drawn and what the right answer to one is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

IGNORE = -100
"""The answer where nothing is asked (PyTorch's own default for a target that does not count)."""


def uniform_symbols(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    """Symbols drawn independently and uniformly, [batch, length]."""
    return torch.randint(settings.vocab_size, (batch, length), generator=generator)


def every_combination(settings: Any, length: int) -> int:
    symbols: int = settings.vocab_size
    return int(symbols**length)


def one_over_answers(settings: Any, length: int, n_outputs: int) -> float:
    return 1.0 / n_outputs


@dataclass(frozen=True)
class TaskRule:
    """A task as two functions; ``settings`` is the task's own parameter model.

    ``answer(source [batch, length], settings)`` gives the right symbol for each position, [batch, length],
    or IGNORE where nothing is asked.
    """

    answer: Callable[[Tensor, Any], Tensor]
    draw: Callable[[int, int, Any, torch.Generator], Tensor] = uniform_symbols
    chance: Callable[[Any, int, int], float] = one_over_answers
    """``chance(settings, length, n_outputs)``: how often the best constant guess is right."""
    distinct: Callable[[Any, int], int] = every_combination
    """``distinct(settings, length)``: how many different sequences can be drawn."""
    decorrelated: Callable[[Any], Any] | None = None
    """``decorrelated(settings)``: the settings that draw sequences without the correlation that a model could use instead
    of the rule; None for a task that has no such correlation."""
    pad: int | None = None
    """Offset above the symbols of the padding token, where the task draws one."""
