"""Shapes and costs: the types in which a part of the model states its parameters, FLOPs and activation memory.

FLOPs are floating-point operations of one training step. Counted are matrix products, convolutions and functions of
single numbers; sums, look-ups, activations and masks count as nothing (:mod:`engine.estimate.prediction`). An encoding that
only looks up and adds (a learned table, T5's buckets, ALiBi) therefore computes nothing. FLOPs are not time: gathering and
summing along rows (Shaw, CoPE) moves many numbers for few operations and takes longer than its count says.

Activation memory is the number of bytes that autograd saves for the backward pass (:mod:`engine.estimate.memory`). Look-ups
and sums save nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

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
class Machine:
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
    padded: bool = False
    """Whether the batch comes with a token mask."""

    @property
    def queries(self) -> int:
        """The number of queries of one layer, over all heads and sequences of the batch."""
        return self.config.batch_size * self.config.n_heads * self.length

    @property
    def bytes_per_number(self) -> int:
        """Bytes of a number that a product reads or gives, at the run's precision."""
        return BYTES[self.config.dtype]

    @property
    def bytes_per_number_at_most(self) -> int:
        """Bytes of the largest number at the run's precision."""
        return WEIGHT_BYTES[self.config.dtype]

    @property
    def mixed(self) -> bool:
        """Whether each product keeps a rounded copy of its weights."""
        return self.config.dtype == MIXED

    def rotation_flops(self, operations: int = 3) -> Flops:
        """The FLOPs of rotating queries and keys by constant angles in every layer: two products and a sum for each number."""
        turned = elementwise_flops(2 * self.queries * self.config.head_width, operations, passes=2)
        return self.config.n_layers * turned

    def network_bytes(self, widths: list[int]) -> int:
        """The bytes that a network on positions saves: the numbers before and after each activation, and where the weights are in
        half precision also their copies in single precision."""
        values = SINGLE * 2 * self.length * sum(widths[1:-1])
        weights = SINGLE * sum(inputs * outputs for inputs, outputs in pairwise(widths))
        return values + (weights if self.bytes_per_number_at_most < SINGLE else 0)


@dataclass(frozen=True)
class Flops:
    """Floating-point operations of one training step, forward and backward."""

    matmul: float = 0.0
    """FLOPs of matrix products and convolutions, two for each multiply-add, as torch's own counter counts."""
    elementwise: float = 0.0
    """FLOPs of functions of single numbers and of rotations, one for each operation; a logarithm or a cosine counts as one."""

    @property
    def total(self) -> float:
        return self.matmul + self.elementwise

    def __add__(self, other: Flops) -> Flops:
        return Flops(self.matmul + other.matmul, self.elementwise + other.elementwise)

    def __rmul__(self, times: int) -> Flops:
        return Flops(times * self.matmul, times * self.elementwise)


def matmul_flops(rows: int, inputs: int, outputs: int, *, passes: int = 3) -> Flops:
    """The FLOPs of [rows, inputs] times [inputs, outputs].

    ``passes``: one forward, and one backward for each of the two factors that gradients reach.
    """
    return Flops(matmul=2.0 * passes * rows * inputs * outputs)


def elementwise_flops(numbers: int, operations: int, *, passes: int = 3) -> Flops:
    """The FLOPs of ``operations`` operations on each of ``numbers`` numbers.

    ``passes`` as for a matrix product: multiplying by a constant has one backward pass, by a learned number two.
    """
    return Flops(elementwise=float(passes * numbers * operations))


def mlp_flops(rows: int, widths: list[int], *, passes: int = 3) -> Flops:
    """The FLOPs of a sequence of dense layers. ``passes`` are those of the first layer, whose input may be a constant."""
    (first, *further) = pairwise(widths)
    return sum((matmul_flops(rows, *sizes) for sizes in further), matmul_flops(rows, *first, passes=passes))
