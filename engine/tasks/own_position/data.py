"""Own position: the answer at each position is its number; padding is not asked."""

import torch
from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData, uniform_symbols
from engine.tasks.own_position import OwnPositionSettings


def draw(batch: int, length: int, own: OwnPositionSettings, generator: torch.Generator) -> Tensor:
    if own.variant == "constant":
        return torch.zeros(batch, length, dtype=torch.long)
    source = uniform_symbols(batch, length, own, generator)
    if own.pad_token is not None:
        lengths = torch.randint(1, length + 1, (batch, 1), generator=generator)
        source[torch.arange(length) >= lengths] = own.pad_token
    return source


def answer(source: Tensor, own: OwnPositionSettings) -> Tensor:
    positions = torch.arange(source.size(1)).repeat(len(source), 1)
    return positions if own.pad_token is None else positions.masked_fill(source == own.pad_token, IGNORE)


TASK = TaskData(answer, draw)
