"""Copy: the answer is the sequence itself."""

from __future__ import annotations

from torch import Tensor

from engine.tasks.data import TaskData
from engine.tasks.spec import SymbolSettings


def answer(source: Tensor, own: SymbolSettings) -> Tensor:
    return source


TASK = TaskData(answer)
