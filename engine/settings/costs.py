"""Shapes and bytes: the types in which a part of the model states its parameters and its memory.

Activation memory is the bytes that autograd saves for the backward pass (:mod:`engine.estimate.memory`). Look-ups and sums save nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.settings.base import BaseConfig

Shape = tuple[int, ...]

MIXED = "bfloat16_mixed"  # products in bfloat16, all else in float32
# bytes of one number that a product reads or gives, by the setting dtype
BYTES = {"float32": 4, MIXED: 2, "bfloat16": 2, "float16": 2}
# bytes of a weight, its gradient, a number of the optimizer or between the layers: no number takes more
WEIGHT_BYTES = {**BYTES, MIXED: 4}
# bytes of one number in networks on positions, which compute in single precision at any dtype
SINGLE = BYTES["float32"]
INDEX = 8  # bytes of a token, a position, a right answer or an index


def dense_shapes(inputs: int, outputs: int) -> list[Shape]:
    return [(outputs, inputs), (outputs,)]


@dataclass(frozen=True)
class Memory:
    """Bytes of one training step by part. ``scores`` is the part of ``saved`` that attention scores take."""

    parameters: int
    gradients: int
    optimizer: int
    saved: int | None  # for the backward pass; None if there is no formula ("measured only")
    scores: int | None
    peak: int | None = None  # the highest allocation during a step; measured, never predicted

    @property
    def state(self) -> int:
        # all that stays between two steps
        return self.parameters + self.gradients + self.optimizer

    @property
    def total(self) -> int | None:
        return None if self.saved is None else self.state + self.saved


@dataclass(frozen=True)
class Cost:
    """The measured cost of a model on one batch. Times are in seconds, each the shortest of several repetitions."""

    train: float  # a training step: forward, backward, optimizer
    inference: float  # one pass without gradient; also the cost of the next token without a cache
    # the next token with a cache of keys and values, or of the state; None if the model keeps neither
    cached: float | None
    cache_bytes: int | None
    memory: Memory | None  # of a training step; None if only times were measured
    inference_peak: int | None  # the highest allocation of a pass without gradient, beyond the weights; None as memory


@dataclass(frozen=True)
class MachineFacts:
    device: str
    kind: str  # the device type: "cpu", "cuda" ...
    torch: str
    threads: int
    free: int


@dataclass(frozen=True)
class StackShape:
    config: BaseConfig
    length: int
    causal: bool

    @property
    def queries(self) -> int:
        """The number of queries over all heads and sequences of the batch, in one layer."""
        return self.config.batch_size * self.config.n_heads * self.length
