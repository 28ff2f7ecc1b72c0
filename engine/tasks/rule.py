"""What a task is: how its sequences are drawn and what the right answer to one is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

IGNORE = -100
"""The answer where nothing is asked (PyTorch's own default for a target that does not count)."""


def uniform_symbols(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    """Symbols drawn independently and uniformly, [batch, length]."""
    return torch.randint(settings.vocab_size, (batch, length), generator=generator)


def one_over_answers(settings: Any, length: int, n_outputs: int) -> float:
    return 1.0 / n_outputs


def any_symbols(settings: Any, length: int) -> int:
    return int(settings.vocab_size**length)


def number(settings: Any, index: int) -> str:
    return str(index)


class Corpus(Protocol):
    """Sequences that are cut from a text instead of drawn by a rule; what is held out is a part of the text."""

    @property
    def names(self) -> Sequence[str]:
        """What each token stands for."""
        ...

    @property
    def chance(self) -> float:
        """How often the best constant guess is right on the training text."""
        ...

    def draw(self, size: int, length: int, generator: torch.Generator, *, held_out: bool) -> tuple[Tensor, Tensor]:
        """Inputs and the answers at each position, both [size, length]. Raises ValueError where there are none."""
        ...

    def places(self, size: int, length: int, generator: torch.Generator, *, held_out: bool) -> Tensor:
        """Where in the text the tokens of what is drawn stand, [size, length + 1]."""
        ...


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
    distinct: Callable[[Any, int], float] = any_symbols
    """``distinct(settings, length)``: about how many sequences it can draw; of a few none can be held out."""
    decorrelated: Callable[[Any], Any] | None = None
    """``decorrelated(settings)``: the settings that draw sequences without the correlation that a model could use instead
    of the rule; None for a task that has no such correlation."""
    pad: int | None = None
    """Offset above the symbols of the padding token, where the task draws one."""
    token_name: Callable[[Any, int], str] = number
    """``token_name(settings, token)``: what a symbol is called on a picture."""
    answer_name: Callable[[Any, int], str] = number
    """``answer_name(settings, answer)``: what an answer is called."""
    true_source: Callable[[Tensor, Any], Tensor] | None = None
    """``true_source(source [batch, length], settings)``: the position from which the last position's answer comes,
    [batch]; None where there is not one such position."""
    corpus: Callable[[Any], Corpus] | None = None
    """From the RunConfig: the text that takes the place of ``draw``, with its own split."""
