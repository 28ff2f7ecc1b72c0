"""Bracket depth: ( ( ) → 1 2 1. How many brackets are open after each symbol, counted from 0 up to a greatest depth.

With greatest depth 2: ( ( ( ) ) → 1 2 2 1 0. An opening bracket at the greatest depth and a closing one at 0 change
nothing, so the depth depends on the order of the brackets and not on their numbers alone: a finite automaton.
The lower half of the symbols open, the others close.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import TaskRule


def answer(source: Tensor, settings: Any) -> Tensor:
    moves = torch.where(source < settings.vocab_size // 2, 1, -1)
    depth, depths = torch.zeros(len(source), dtype=torch.long), []
    for move in moves.unbind(1):
        depth = (depth + move).clamp(0, settings.max_depth)
        depths.append(depth)
    return torch.stack(depths, dim=1)  # [batch, length]


TASK = TaskRule(answer=answer)
