import torch
from torch import Tensor

from engine.tasks.base.data import TaskData
from engine.tasks.trigger import TriggerSettings

START, TRIGGER = range(2)  # named tokens, numbered from just above the symbols


def draw(batch: int, length: int, settings: TriggerSettings, generator: torch.Generator) -> Tensor:
    # each sequence has its own level, so that the means differ
    level = torch.rand(batch, 1, generator=generator).expand(-1, length)
    most = torch.full((batch, length), settings.vocab_size - 1.0)
    source = torch.binomial(most, level, generator=generator).long()
    triggers = torch.rand(batch, length, generator=generator) < settings.trigger_share
    triggers[:, :2] = False
    source[triggers] = settings.vocab_size + TRIGGER
    source[:, 0] = settings.vocab_size + START
    return source


def answer(source: Tensor, settings: TriggerSettings) -> Tensor:
    is_number = source < settings.vocab_size
    total, count = (source * is_number).cumsum(dim=1), is_number.cumsum(dim=1)
    mean = (2 * total + count) // (2 * count.clamp_min(1))  # a half is rounded up
    at_trigger = (source == settings.vocab_size + TRIGGER) & (count > 0)
    return torch.where(at_trigger, mean, settings.vocab_size)


TASK = TaskData(answer, draw)
