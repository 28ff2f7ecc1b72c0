"""Content offset: symbols and offsets are drawn independently and uniformly. Where an offset points before the sequence
nothing is asked.
"""

import torch
from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData
from engine.tasks.content_offset import ContentOffsetSettings


def answer(source: Tensor, settings: ContentOffsetSettings) -> Tensor:
    symbols, offsets = source % settings.vocab_size, source // settings.vocab_size + 1
    positions = torch.arange(source.size(1)) - offsets  # [batch, length]
    return torch.where(positions < 0, IGNORE, symbols.gather(1, positions.clamp(min=0)))


TASK = TaskData(answer)
