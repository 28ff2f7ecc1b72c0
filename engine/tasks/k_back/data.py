from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData
from engine.tasks.k_back import KBackSettings


def answer(source: Tensor, settings: KBackSettings) -> Tensor:
    earlier = source.roll(settings.k, dims=1)
    earlier[:, : settings.k] = IGNORE
    return earlier


TASK = TaskData(answer)
