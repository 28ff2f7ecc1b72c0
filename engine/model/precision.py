"""The precision of a model's passes: mixed precision (Micikevicius et al. 2018, Mixed Precision Training, section 3) by torch's
autocast, and TF32 for float32 products on a CUDA device.

In mixed precision the weights and the numbers between the layers are float32, products (linear layers, attention, convolutions) are
bfloat16, and softmax and norms are float32. Autocast leaves softmax and norms to the device (CUDA takes float32, a CPU the
precision of their input), so they are set here: all devices then compute in the same way.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import torch
from torch import Tensor, nn

from engine.config.run_config import RunConfig
from engine.settings.costs import MIXED

P = ParamSpec("P")
T = TypeVar("T")

TF32 = "float32 products use TF32 (10 bits of mantissa) on this device; for exact ones switch TF32 off."


class HasPrecision(Protocol):
    config: RunConfig
    head: nn.Linear


M = TypeVar("M", bound=HasPrecision)


def weight_dtype(config: RunConfig) -> torch.dtype:
    """The type of weights, gradients, the optimizer's numbers, and the numbers between the layers."""
    return torch.float32 if config.dtype == MIXED else getattr(torch, config.dtype)


def product_dtype(config: RunConfig) -> torch.dtype:
    """The type of queries, keys, values and the output of every linear layer."""
    return torch.bfloat16 if config.dtype == MIXED else getattr(torch, config.dtype)


def in_input_precision(compute: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[M, P], T]:
    """Decorator of a computation of a model, the first argument: its config decides the precision, whoever calls it."""

    @wraps(compute)
    def computed(model: M, /, *args: P.args, **kwargs: P.kwargs) -> T:
        device = model.head.weight.device.type
        # of the whole process, and it stays so for the backward pass; another run's computation sets its own
        if device == "cuda":
            set_tf32(model.config.tf32)
        if model.config.dtype != MIXED:
            return compute(model, *args, **kwargs)
        # no cached copies: one made while a CUDA graph is captured must not be read outside of it
        with torch.autocast(device, torch.bfloat16, cache_enabled=False):
            return compute(model, *args, **kwargs)

    return computed


def lowered_dtype(t: Tensor) -> torch.dtype:
    """The type in which products read a tensor: in a pass in mixed precision bfloat16, else its own."""
    kind = t.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else t.dtype


def lowered(t: Tensor) -> Tensor:
    """A tensor as products read it. Several products that read the same tensor then share one copy."""
    return t.to(lowered_dtype(t))


def widened(t: Tensor) -> Tensor:
    """A tensor as softmax and norms read it: in a pass in mixed precision in float32, else in its own type."""
    return t.float() if torch.is_autocast_enabled(t.device.type) else t


def set_tf32(allowed: bool) -> None:
    """Let float32 products on CUDA devices use TF32, in the whole process, or make them exact. Nothing changes on a CPU."""
    precision = "tf32" if allowed else "ieee"
    torch.backends.cuda.matmul.fp32_precision = precision
    torch.backends.cudnn.conv.fp32_precision = precision  # type: ignore[attr-defined]
    torch.backends.cudnn.rnn.fp32_precision = precision  # type: ignore[attr-defined]


def tf32_note(config: RunConfig, device: torch.device) -> str:
    used = device.type == "cuda" and config.dtype == "float32" and config.tf32 and torch.cuda.is_tf32_supported()
    return TF32 if used else ""
