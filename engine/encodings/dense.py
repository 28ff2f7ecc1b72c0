"""Layers for the small networks that some encodings are made of."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class Dense(nn.Module):
    """A linear layer [..., inputs] -> [..., outputs], computed in single precision at least: a position is a number that
    half precision cannot hold.

    Weights and biases start uniform within 1 / sqrt(inputs), as torch's own do. The model's Xavier start with zero biases
    would put every bend of a network on a single number at zero.
    """

    weight: Tensor
    bias: Tensor

    def __init__(self, inputs: int, outputs: int, *, learned: bool = True) -> None:
        super().__init__()
        bound = inputs**-0.5
        hold(self, "weight", torch.empty(outputs, inputs).uniform_(-bound, bound), learned=learned)
        hold(self, "bias", torch.empty(outputs).uniform_(-bound, bound), learned=learned)

    def forward(self, x: Tensor) -> Tensor:
        dtype = at_least_single(self.weight)
        return linear(x.to(dtype), self.weight.to(dtype), self.bias.to(dtype))

    @torch.no_grad()
    def scale(self, factor: float) -> None:
        """Multiply what comes out."""
        self.weight.mul_(factor)
        self.bias.mul_(factor)


def hold(module: nn.Module, name: str, tensor: Tensor, *, learned: bool) -> None:
    """As a parameter where it is learned; else beside the parameters, saved and loaded with them."""
    if learned:
        module.register_parameter(name, nn.Parameter(tensor))
    else:
        module.register_buffer(name, tensor)


def at_least_single(parameter: Tensor) -> torch.dtype:
    """The parameter's own precision, or float32 where that is half."""
    return torch.promote_types(parameter.dtype, torch.float32)


def root_mean_square(rows: Tensor) -> float:
    return float(rows.detach().square().mean().sqrt())
