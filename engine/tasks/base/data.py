from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Generic, TypeVar

import torch
from torch import Tensor

from engine.settings.base import BaseConfig
from engine.tasks import TASKS
from engine.tasks.base import TaskSettings

if TYPE_CHECKING:
    from engine.tasks.text.data import TextCorpus

IGNORE = -100  # the answer that nothing is asked (PyTorch's own default for a target that does not count)

S = TypeVar("S", bound=TaskSettings)


def uniform_symbols(batch: int, length: int, settings: TaskSettings, generator: torch.Generator) -> Tensor:
    """Independent symbols, [batch, length]."""
    return torch.randint(settings.n_symbols, (batch, length), generator=generator)


def answer_at_the_end(source: Tensor, answers: Tensor) -> Tensor:
    """Put the answers [batch] at the last position, and ask nothing elsewhere: [batch, length]."""
    answered = torch.full_like(source, IGNORE)
    answered[:, -1] = answers
    return answered


@dataclass(frozen=True)
class TaskData(Generic[S]):
    answer: Callable[[Tensor, S], Tensor]
    """``answer(source [batch, length], settings)``: the right symbol for each position, [batch, length]; IGNORE if nothing is asked."""
    draw: Callable[[int, int, S, torch.Generator], Tensor] = uniform_symbols  # sequences, [batch, length]
    true_source: Callable[[Tensor, S], Tensor] | None = None
    """``true_source(source [batch, length], settings)``: the position from which the last position's answer comes, [batch]; None if there
    is not one such position."""
    corpus: Callable[[S, BaseConfig], "TextCorpus"] | None = None  # the text that replaces draw, with its own split


def task_data(name: str) -> TaskData[TaskSettings]:
    folder = "text" if TASKS[name].corpus else name
    data: TaskData[TaskSettings] = resolve_name(f"engine.tasks.{folder}.data:TASK")
    return data
