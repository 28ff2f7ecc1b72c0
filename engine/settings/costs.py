"""Shapes and bytes: the types in which a part of the model states its parameters and its memory.

Activation memory is the number of bytes that autograd saves for the backward pass (:mod:`engine.estimate.memory`). Look-ups
and sums save nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.settings.base import BaseConfig

Shape = tuple[int, ...]
"""The shape of one parameter tensor."""

MIXED = "bfloat16_mixed"
"""The value of the setting ``dtype`` that is mixed precision: products in bfloat16, all else in float32."""
BYTES = {"float32": 4, MIXED: 2, "bfloat16": 2, "float16": 2}
"""Bytes of one number that a product reads or gives, at each precision (the setting ``dtype``)."""
WEIGHT_BYTES = {**BYTES, MIXED: 4}
"""Bytes of a weight, its gradient, a number of the optimizer, and of a number between the layers: no number takes more."""
SINGLE = BYTES["float32"]
"""Bytes of one number in networks on positions, which compute in single precision at any ``dtype``."""
INDEX = 8
"""Bytes of a token, a position, a right answer, or the number of a vector that is looked up."""


def dense_shapes(inputs: int, outputs: int) -> list[Shape]:
    """The shapes of weight and bias of a dense layer."""
    return [(outputs, inputs), (outputs,)]


@dataclass(frozen=True)
class Memory:
    """The memory of one training step by part, in bytes. ``scores`` is the part of ``saved`` that attention scores take."""

    parameters: int
    gradients: int
    optimizer: int
    saved: int | None
    """Bytes saved for backward; None where there is no formula ("measured only")."""
    scores: int | None
    peak: int | None = None
    """The highest allocation during a step; measured, never predicted."""

    @property
    def state(self) -> int:
        """The training state, which stays between two steps."""
        return self.parameters + self.gradients + self.optimizer

    @property
    def total(self) -> int | None:
        return None if self.saved is None else self.state + self.saved


@dataclass(frozen=True)
class Cost:
    """The measured cost of a model on one batch. Times are in seconds, each the shortest of several repetitions."""

    train: float
    """A training step: forward, backward, optimizer."""
    inference: float
    """One pass without gradient; also the cost of the next token without a cache."""
    cached: float | None
    """The next token with a cache of keys and values, or of the state; None where the model keeps neither."""
    cache_bytes: int | None
    """The bytes of that cache."""
    memory: Memory | None
    """The memory of a training step; None where only times were asked for."""
    inference_peak: int | None
    """The highest allocation of a pass without gradient, beyond the weights; None as ``memory``."""


@dataclass(frozen=True)
class MachineFacts:
    """The machine of a measurement."""

    device: str
    """The device in words."""
    kind: str
    """The device type: ``cpu``, ``cuda`` ..."""
    torch: str
    threads: int
    free: int
    """The free bytes before the measurement."""


@dataclass(frozen=True)
class StackShape:
    """The sizes of the input of one stack of attention layers in a training step."""

    config: BaseConfig
    length: int
    """The tokens of each sequence."""
    causal: bool
    """Whether the stack attends to earlier positions only."""

    @property
    def queries(self) -> int:
        """The number of queries of one layer, over all heads and sequences of the batch."""
        return self.config.batch_size * self.config.n_heads * self.length
