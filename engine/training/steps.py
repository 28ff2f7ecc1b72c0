"""Optimizer steps, one by one; :mod:`engine.training.captured` has the other way to take them."""

import math
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from engine.runs.events import Measuring
from engine.training.data import Batch
from engine.training.evaluation import forward, loss_of
from engine.training.optimizers import learning_rate_at, set_learning_rate
from engine.training.state import TrainingState


@dataclass(frozen=True)
class Step:
    """One optimizer step, or one that was not taken because its gradient is not finite."""

    number: int  # counted from 1
    rate: float
    loss: float
    grad_norm: float  # the global L2 norm of the gradient before clipping
    tokens_per_second: float
    measured: dict[str, list[float]] | None = None  # the numbers of StepProbe.compute by name, at its steps


@dataclass(frozen=True)
class StepOutput:
    # both on the device
    batch: Batch
    logits: Tensor


class Numbers(NamedTuple):
    sizes: dict[str, int]
    values: Tensor  # [number]

    @staticmethod
    def of(tensors: Mapping[str, Tensor]) -> "Numbers":
        return Numbers({name: len(numbers) for name, numbers in tensors.items()}, torch.cat(list(tensors.values())))

    def copy(self) -> "Numbers":
        # the next numbers are written into the same tensor
        return self._replace(values=self.values.clone())

    def read(self) -> dict[str, list[float]]:
        values = iter(self.values.tolist())
        return {name: list(islice(values, size)) for name, size in self.sizes.items()}


@dataclass(frozen=True)
class StepProbe:
    """A computation at some steps, on the device. It changes neither weights nor gradients, and does not wait for the device."""

    # of the step's batch and logits, the parameters' gradients, and the model after the step
    compute: Callable[[StepOutput], Numbers]
    steps: Collection[int]


class SingleSteps:
    last: Batch

    def __init__(self, state: TrainingState, probe: StepProbe) -> None:
        self._state, self._probe = state, probe
        self._parameters = trainable(state.model)

    def take(self, most: int) -> Generator[Measuring, None, list[Step]]:
        """Take at least one step and at most ``most``. If the gradient of one is not finite, it is the last of them, and not counted."""
        yield from ()
        return [self.take_one()]

    def close(self) -> None: ...

    def take_one(self) -> Step:
        began, state, parameters = perf_counter(), self._state, self._parameters
        batch = state.upcoming(1)[0].to(state.device)  # first: after pre-training the optimizers are others
        self.last, number, config = batch, state.step + 1, state.config
        rate = learning_rate_at(config, number)
        set_learning_rate(state.optimizers, rate)
        with random_state(state):
            logits, loss = gradients(state.model, parameters, batch)
        norm = gradient_norm(parameters)
        if not math.isfinite(norm):
            return Step(number, rate, loss.item(), norm, 0.0)
        if config.grad_clip is not None:
            clip_grads_with_norm_(parameters, config.grad_clip, torch.tensor(norm, device=state.device))
        for optimizer in state.optimizers:
            optimizer.step()
        state.count(1, perf_counter() - began)
        probe = self._probe
        measured = probe.compute(StepOutput(batch, logits)).read() if number in probe.steps else None
        return Step(number, rate, loss.item(), norm, state.n_tokens / state.busy, measured)


def trainable(model: nn.Module) -> list[nn.Parameter]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def random_state(state: TrainingState) -> AbstractContextManager[None]:
    return nullcontext() if state.dropout is None else state.dropout.active()


def gradients(model: nn.Module, parameters: Sequence[nn.Parameter], batch: Batch) -> tuple[Tensor, Tensor]:
    logits = forward(model, batch)
    loss = loss_of(logits.float(), batch.targets)
    for parameter in parameters:  # zero_grad would walk over all modules to find them
        parameter.grad = None
    loss.backward()  # type: ignore[no-untyped-call]
    return logits, loss


def total_norm(parameters: Sequence[nn.Parameter]) -> Tensor:
    """The global L2 norm of the gradients, in float32 so that half precision does not overflow while summing."""
    return get_total_norm(
        [p.grad if p.grad.dtype == torch.float32 else p.grad.float() for p in parameters if p.grad is not None]
    )


def gradient_norm(parameters: Sequence[nn.Parameter]) -> float:
    norm = float(total_norm(parameters))
    if math.isfinite(norm):
        return norm
    # the squares of a gradient above 1e19 overflow float32 although the gradient itself is finite
    return float(get_total_norm([p.grad.cpu().double() for p in parameters if p.grad is not None]))
