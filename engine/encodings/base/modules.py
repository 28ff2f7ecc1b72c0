from contextlib import nullcontext

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, linear, pad

from engine.encodings.base.layer import cosines


class Scalable(nn.Module):
    """A module whose output is linear in all of its tensors taken together."""

    @torch.no_grad()
    def scale(self, factor: float) -> None:
        for tensor in self.state_dict().values():
            tensor.mul_(factor)


class Dense(Scalable):
    """A linear layer, [..., inputs] -> [..., outputs], computed in single precision at least.

    Weights and biases start uniform within 1 / sqrt(inputs), as torch's own do. The model's Xavier start with zero biases would put every
    bend of a network on a single number at zero.
    """

    weight: Tensor
    bias: Tensor

    def __init__(self, inputs: int, outputs: int, *, learned: bool = True) -> None:
        super().__init__()
        bound = inputs**-0.5
        register_tensor(self, "weight", torch.empty(outputs, inputs).uniform_(-bound, bound), learned=learned)
        register_tensor(self, "bias", torch.empty(outputs).uniform_(-bound, bound), learned=learned)

    def forward(self, x: Tensor) -> Tensor:
        # half precision cannot hold the number of a position
        dtype, kind = at_least_single(self.weight), x.device.type
        lowers = torch.is_autocast_enabled(kind)
        with torch.autocast(kind, enabled=False) if lowers else nullcontext():
            return linear(x.to(dtype), self.weight.to(dtype), self.bias.to(dtype))


class DepthwiseConvolution(Scalable):
    """A convolution over the tokens with one kernel for each dimension, [batch, length, d_model] -> the same.

    Position i reads positions i - before to i + after, and zeros beyond the ends of the sequence.
    """

    kernel: Tensor
    bias: Tensor

    def __init__(self, width: int, before: int, after: int, *, learned: bool = True) -> None:
        super().__init__()
        self.before, self.after = before, after
        bound = (before + 1 + after) ** -0.5
        kernel = torch.empty(width, before + 1 + after).uniform_(-bound, bound)
        register_tensor(self, "kernel", kernel, learned=learned)
        register_tensor(self, "bias", torch.empty(width).uniform_(-bound, bound), learned=learned)

    def forward(self, x: Tensor) -> Tensor:
        padded = pad(x.mT, (self.before, self.after))  # [batch, d_model, before + length + after]
        kernel, bias = self.kernel.to(x.dtype), self.bias.to(x.dtype)
        return conv1d(padded, kernel[:, None], bias, groups=len(kernel)).mT

    @torch.no_grad()
    def overlap(self, length: int) -> Tensor:
        """The expected cosine between the outputs at two positions over independent random tokens, [position, position]: near positions
        read the same neighbours."""
        kernel = self.kernel.float().cpu()
        reads = torch.zeros(length, len(kernel), self.before + length + self.after)
        for index in range(length):
            reads[index, :, index : index + kernel.shape[1]] = kernel
        return cosines(reads[..., self.before : self.before + length].flatten(1))


def register_tensor(module: nn.Module, name: str, tensor: Tensor, *, learned: bool) -> None:
    if learned:
        module.register_parameter(name, nn.Parameter(tensor))
    else:
        module.register_buffer(name, tensor)


def at_least_single(parameter: Tensor) -> torch.dtype:
    return torch.promote_types(parameter.dtype, torch.float32)


def root_mean_square(rows: Tensor) -> float:
    return float(rows.detach().square().mean().sqrt())
