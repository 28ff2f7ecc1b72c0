"""Parity: 1 0 1 → · · 0. Every symbol counts, and each flips the answer: no part of the sequence tells anything alone.

With more than two symbols it is the sum modulo their number.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule


def answer(source: Tensor, settings: Any) -> Tensor:
    asked = torch.full_like(source, IGNORE)
    asked[:, -1] = source.sum(dim=1) % settings.vocab_size
    return asked


TASK = TaskRule(answer=answer)
