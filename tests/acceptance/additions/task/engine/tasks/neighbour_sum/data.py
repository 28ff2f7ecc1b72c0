"""Neighbour sum: the answer is the symbol plus the one before it, modulo their number; the first is not asked."""

from torch import Tensor

from engine.tasks.base import SymbolSettings
from engine.tasks.base.data import IGNORE, TaskData


def answer(source: Tensor, settings: SymbolSettings) -> Tensor:
    sums = (source + source.roll(1, dims=1)) % settings.n_symbols
    sums[:, 0] = IGNORE
    return sums


TASK = TaskData(answer)
