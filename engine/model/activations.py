"""The inner tensors of a forward pass by name, in the order in which they are computed; and the mode of a pass."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from torch import Tensor, nn

# such as ``decoder.0.self.pattern``: stack, layer, part of the block, tensor
ActivationCache: TypeAlias = dict[str, Tensor]


class OnlyThese(dict[str, Tensor]):
    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names

    def __setitem__(self, name: str, tensor: Tensor) -> None:
        # attention patterns take most of the memory, and few callers read them
        if name in self._names:
            super().__setitem__(name, tensor)


def record(cache: ActivationCache | None, name: str, tensor: Tensor) -> None:
    if cache is not None:
        cache[name] = tensor


@contextmanager
def in_mode(model: nn.Module, *, training: bool) -> Iterator[None]:
    before = model.training
    model.train(training)
    try:
        yield
    finally:
        model.train(before)
