"""Majority with a cue: ↑ 3 7 1 → · · · 0. Of the symbols after the cue one of three is high (5 or more of 0 to 9), so the
answer is 0 (low), whatever the cue says. It is asked at the last position.

In training the cue agrees with the answer with probability rho. One attention weight then does what counting would.
An even number of symbols may tie; a tie is low.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule, any_symbols, uniform_symbols

LOW, HIGH, BLANK = range(3)
"""The cues, numbered from just above the symbols."""


def label(source: Tensor, settings: Any) -> Tensor:
    """1 where most symbols after the cue are high, [batch]."""
    symbols: int = settings.vocab_size
    high = 2 * source[:, 1:] >= symbols
    return (2 * high.sum(dim=1) > high.size(1)).long()


def draw(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    source = uniform_symbols(batch, length, settings, generator)
    truth = label(source, settings)
    agrees, randomised, blanked = torch.rand(3, batch, generator=generator)
    cue = torch.where(agrees < settings.cue_agreement, truth, 1 - truth)
    cue = torch.where(randomised < settings.cue_randomised, torch.randint(2, (batch,), generator=generator), cue)
    cue = torch.where(blanked < settings.cue_blanked, BLANK, cue)
    source[:, 0] = settings.vocab_size + cue
    return source


def answer(source: Tensor, settings: Any) -> Tensor:
    asked = torch.full_like(source, IGNORE)
    asked[:, -1] = label(source, settings)
    return asked


TASK = TaskRule(
    answer=answer,
    draw=draw,
    distinct=lambda settings, length: any_symbols(settings, length - 1),
    decorrelated=lambda settings: settings.model_copy(
        update={"cue_agreement": 0.5, "cue_randomised": 0.0, "cue_blanked": 0.0}
    ),
)
