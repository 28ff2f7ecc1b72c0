"""Short jobs: questions that the pool's workers answer.

Every job is declared in a module whose name ends in ``jobs``, with the type of its answer and without torch.
"""

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import ClassVar, Generic, TypeVar, cast, dataclass_transform

AnswerT = TypeVar("AnswerT")


@dataclass_transform(frozen_default=True)
class Job(Generic[AnswerT]):
    """A question to a worker: each subclass is a frozen dataclass whose fields are the arguments of its function. The
    answer travels pickled: numpy and plain Python, no tensors."""

    function: ClassVar[str]
    """``module:function``; one dot in front stands for the package of the job's own module. It is imported in the
    process that does the job, so it may import torch."""
    noun: ClassVar[str] = "The question"  # the subject of a sentence about the job, for readers
    anywhere: ClassVar[bool] = False
    """True if the job reads and writes no file, so that a machine of the cluster may do it. Jobs that measure are of
    this kind: one machine does them all, and draws no page."""

    def __init_subclass__(cls, *, function: str = "", noun: str = "", anywhere: bool = False) -> None:
        """Keywords of the class statement that are left out stay as in the class above."""
        if function:
            package = cls.__module__.rpartition(".")[0]
            cls.function = package + function if function.startswith(".") else function
        cls.noun, cls.anywhere = noun or cls.noun, anywhere or cls.anywhere
        dataclass(frozen=True)(cls)

    def do(self) -> AnswerT:
        return cast(AnswerT, resolve_name(self.function)(**vars(self)))
