import torch
from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData, uniform_symbols
from engine.tasks.own_position import OwnPositionSettings


def draw(batch: int, length: int, settings: OwnPositionSettings, generator: torch.Generator) -> Tensor:
    if settings.variant == "constant":
        return torch.zeros(batch, length, dtype=torch.long)
    source = uniform_symbols(batch, length, settings, generator)
    if settings.pad_token is not None:
        lengths = torch.randint(1, length + 1, (batch, 1), generator=generator)
        source[torch.arange(length) >= lengths] = settings.pad_token
    return source


def answer(source: Tensor, settings: OwnPositionSettings) -> Tensor:
    positions = torch.arange(source.size(1)).repeat(len(source), 1)
    return positions if settings.pad_token is None else positions.masked_fill(source == settings.pad_token, IGNORE)


TASK = TaskData(answer, draw)
