"""Recording the inner tensors of a forward pass by name, in the order in which they are computed."""

from __future__ import annotations

from typing import TypeAlias

from torch import Tensor

ActivationCache: TypeAlias = dict[str, Tensor]
"""Tensors by name, for example ``decoder.0.self.pattern``: stack, layer, part of the block, tensor."""


def record(cache: ActivationCache | None, name: str, tensor: Tensor) -> None:
    """Store a tensor under its name, if a cache is given."""
    if cache is not None:
        cache[name] = tensor
