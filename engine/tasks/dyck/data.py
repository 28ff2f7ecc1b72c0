import torch
from torch import Tensor

from engine.tasks.base.data import TaskData
from engine.tasks.dyck import DyckSettings


def answer(source: Tensor, settings: DyckSettings) -> Tensor:
    moves = torch.where(source < settings.vocab_size // 2, 1, -1)
    depth, depths = torch.zeros(len(source), dtype=torch.long), []
    for move in moves.unbind(1):
        depth = (depth + move).clamp(0, settings.max_depth)
        depths.append(depth)
    return torch.stack(depths, dim=1)  # [batch, length]


TASK = TaskData(answer)
