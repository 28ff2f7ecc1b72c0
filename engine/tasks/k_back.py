"""k back: with k = 1, 3 1 4 → · 3 1. The relation is a fixed offset, so relative encodings have it easy."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule


def answer(source: Tensor, settings: Any) -> Tensor:
    earlier = source.roll(settings.k, dims=1)
    earlier[:, : settings.k] = IGNORE
    return earlier


TASK = TaskRule(answer=answer)
