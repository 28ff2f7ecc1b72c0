"""Permutation: in the order 3 1 2, 3 1 4 → 4 3 1. One fixed order, unknown to the model and the same in every sequence:
y_i = x_π(i). The offset π(i) - i differs at each position, so nothing but the absolute position tells it.

Each length has a permutation of its own, drawn from ``permutation_seed``; the run's seed does not change it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import TaskRule


@lru_cache(maxsize=64)
def permutation(n: int, seed: int) -> tuple[int, ...]:
    """π(0) to π(n - 1): where each answer stands."""
    return tuple(torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist())


def answer(source: Tensor, settings: Any) -> Tensor:
    return source[:, list(permutation(source.size(1), settings.permutation_seed))]


TASK = TaskRule(answer=answer)
