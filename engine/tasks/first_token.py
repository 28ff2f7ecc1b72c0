"""First token: 3 1 4 → · 3 3. Retrieval from one absolute position; the first position itself is not asked."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule


def answer(source: Tensor, settings: Any) -> Tensor:
    first = source[:, :1].repeat(1, source.size(1))
    first[:, 0] = IGNORE
    return first


TASK = TaskRule(answer=answer)
