from torch import Tensor

from engine.tasks.base.data import TaskData
from engine.tasks.reverse import ReverseSettings


def answer(source: Tensor, settings: ReverseSettings) -> Tensor:
    return source.flip(1)


TASK = TaskData(answer)
