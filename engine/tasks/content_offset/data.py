import torch
from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData
from engine.tasks.content_offset import ContentOffsetSettings


def answer(source: Tensor, settings: ContentOffsetSettings) -> Tensor:
    symbols, offsets = source % settings.vocab_size, source // settings.vocab_size + 1
    positions = torch.arange(source.size(1)) - offsets  # [batch, length]
    # an offset to before the sequence asks nothing
    return torch.where(positions < 0, IGNORE, symbols.gather(1, positions.clamp(min=0)))


TASK = TaskData(answer)
