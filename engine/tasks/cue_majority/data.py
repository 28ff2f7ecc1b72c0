import torch
from torch import Tensor

from engine.tasks.base.data import TaskData, answer_at_the_end, uniform_symbols
from engine.tasks.cue_majority import CueMajoritySettings

LOW, HIGH, BLANK = range(3)  # the cues, numbered from just above the symbols


def label(source: Tensor, settings: CueMajoritySettings) -> Tensor:
    """1 if most symbols after the cue are high, [batch]."""
    high = 2 * source[:, 1:] >= settings.vocab_size
    return (2 * high.sum(dim=1) > high.size(1)).long()


def draw(batch: int, length: int, settings: CueMajoritySettings, generator: torch.Generator) -> Tensor:
    source = uniform_symbols(batch, length, settings, generator)
    truth = label(source, settings)
    agrees, randomised, blanked = torch.rand(3, batch, generator=generator)
    cue = torch.where(agrees < settings.cue_agreement, truth, 1 - truth)
    cue = torch.where(randomised < settings.cue_randomised, torch.randint(2, (batch,), generator=generator), cue)
    cue = torch.where(blanked < settings.cue_blanked, BLANK, cue)
    source[:, 0] = settings.vocab_size + cue
    return source


def answer(source: Tensor, settings: CueMajoritySettings) -> Tensor:
    return answer_at_the_end(source, label(source, settings))


TASK = TaskData(answer, draw)
