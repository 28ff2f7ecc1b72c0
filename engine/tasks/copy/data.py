from torch import Tensor

from engine.tasks.base.data import TaskData
from engine.tasks.copy import CopySettings


def answer(source: Tensor, settings: CopySettings) -> Tensor:
    return source


TASK = TaskData(answer)
