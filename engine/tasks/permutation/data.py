"""Permutation: each length has its own order, drawn from ``permutation_seed``; the run's seed does not change it."""

from functools import lru_cache

import torch
from torch import Tensor

from engine.tasks.base.data import TaskData
from engine.tasks.permutation import PermutationSettings


@lru_cache(maxsize=64)
def permutation(n: int, seed: int) -> tuple[int, ...]:
    """π(0) to π(n - 1): the position from which each answer comes."""
    return tuple(torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist())


def answer(source: Tensor, settings: PermutationSettings) -> Tensor:
    return source[:, list(permutation(source.size(1), settings.permutation_seed))]


TASK = TaskData(answer)
