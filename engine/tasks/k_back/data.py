"""k back: the answer at each position is the symbol k positions earlier; the first k positions are not asked."""

from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData
from engine.tasks.k_back import KBackSettings


def answer(source: Tensor, settings: KBackSettings) -> Tensor:
    earlier = source.roll(settings.k, dims=1)
    earlier[:, : settings.k] = IGNORE
    return earlier


TASK = TaskData(answer)
