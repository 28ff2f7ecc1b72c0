"""Recording the inner tensors of a forward pass by name, in the order in which they are computed."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from torch import Tensor

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
