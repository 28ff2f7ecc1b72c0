"""Recording the inner tensors of a forward pass by name, in the order in which they are computed; and the mode of a pass."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from torch import Tensor, nn

ActivationCache: TypeAlias = dict[str, Tensor]
"""Tensors by name, for example ``decoder.0.self.pattern``: stack, layer, part of the block, tensor."""


class OnlyThese(dict[str, Tensor]):
    """A cache that keeps the tensors of these names and drops the others as they come: attention patterns take most of the memory,
    and few ask for them."""

    def __init__(self, names: Collection[str]) -> None:
        super().__init__()
        self._names = names

    def __setitem__(self, name: str, tensor: Tensor) -> None:
        if name in self._names:
            super().__setitem__(name, tensor)


def record(cache: ActivationCache | None, name: str, tensor: Tensor) -> None:
    """Store a tensor under its name, if a cache is given."""
    if cache is not None:
        cache[name] = tensor


@contextmanager
def in_mode(model: nn.Module, *, training: bool) -> Iterator[None]:
    """Inside the block the model is in the asked mode; afterwards in the one it had before, also after an exception."""
    before = model.training
    model.train(training)
    try:
        yield
    finally:
        model.train(before)
