"""Shapes and costs: the types in which a part of the model says what it learns, computes and keeps for the backward pass.

FLOPs are floating-point operations of one training step. Counted are matrix products, convolutions and functions of
single numbers; sums, look-ups, activations and masks count as nothing (:mod:`engine.estimate.prediction`). An encoding that
only looks up and adds (a learned table, T5's buckets, ALiBi) therefore computes nothing. FLOPs are not time: gathering and
summing along rows (Shaw, CoPE) moves many numbers for few operations and takes longer than its count says.

Activation memory is in bytes: what autograd keeps for the backward pass (:mod:`engine.estimate.memory`). Look-ups and sums
keep nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from engine.settings.base import BaseConfig

Shape = tuple[int, ...]
"""The shape of one tensor of parameters."""

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of one number at each precision (the setting ``dtype``)."""
SINGLE = BYTES["float32"]
"""Networks on positions compute in single precision at any ``dtype``."""


def dense_shapes(inputs: int, outputs: int) -> list[Shape]:
    """Weight and bias of a dense layer."""
    return [(outputs, inputs), (outputs,)]


@dataclass(frozen=True)
class Memory:
    """Bytes of one training step, part by part. ``scores`` is the share of ``saved`` that attention scores take."""

    parameters: int
    gradients: int
    optimizer: int
    saved: int | None
    """Saved for backward; None where there is no formula ("measured only")."""
    scores: int | None
    peak: int | None = None
    """Highest allocation during a step; measured only."""

    @property
    def total(self) -> int | None:
        return None if self.saved is None else self.parameters + self.gradients + self.optimizer + self.saved


@dataclass(frozen=True)
class StackShape:
    """The sizes of what one stack of attention layers reads in a training step."""

    config: BaseConfig
    length: int
    """Tokens of each sequence."""
    causal: bool
    """Whether the stack attends to earlier positions only."""
    padded: bool = False
    """Whether the batch comes with a token mask."""

    @property
    def layers(self) -> int:
        """Attention layers. What acts on scores, queries or keys is computed anew in each, also where layers share it."""
        return self.config.n_layers

    @property
    def pairs(self) -> int:
        """Pairs of a query and a key in one sequence."""
        return self.length**2

    @property
    def queries(self) -> int:
        """Queries of every head and sequence of the batch, in one layer."""
        return self.config.batch_size * self.config.n_heads * self.length

    @property
    def bytes_per_number(self) -> int:
        """Bytes of a number at the run's precision."""
        return BYTES[self.config.dtype]


@dataclass(frozen=True)
class Flops:
    """Floating-point operations of one training step, forward and backward."""

    matmul: float = 0.0
    """Of matrix products and convolutions, two for each multiply-add: what torch's own counter sees."""
    elementwise: float = 0.0
    """Of functions of single numbers and of rotations, one for each operation; a logarithm or a cosine counts as one."""

    @property
    def total(self) -> float:
        return self.matmul + self.elementwise

    def __add__(self, other: Flops) -> Flops:
        return Flops(self.matmul + other.matmul, self.elementwise + other.elementwise)

    def __rmul__(self, times: int) -> Flops:
        return Flops(times * self.matmul, times * self.elementwise)


def matmul_flops(rows: int, inputs: int, outputs: int, *, passes: int = 3) -> Flops:
    """Of [rows, inputs] times [inputs, outputs].

    ``passes``: one forward, and one backward for each of the two factors that gradients reach.
    """
    return Flops(matmul=2.0 * passes * rows * inputs * outputs)


def elementwise_flops(numbers: int, operations: int, *, passes: int = 3) -> Flops:
    """Of so many operations on each number.

    ``passes`` as for a matrix product: multiplying by a constant has one pass backward, by a learned number two.
    """
    return Flops(elementwise=float(passes * numbers * operations))


def mlp_flops(rows: int, widths: list[int], *, passes: int = 3) -> Flops:
    """Of dense layers one after the other. ``passes`` are those of the first layer, whose input may be a constant."""
    (first, *further) = pairwise(widths)
    return sum((matmul_flops(rows, *sizes) for sizes in further), matmul_flops(rows, *first, passes=passes))


def rotation_flops(stack: StackShape, operations: int = 3) -> Flops:
    """Of queries and keys rotated by constant angles in every layer: two products and a sum for each number."""
    return stack.layers * elementwise_flops(2 * stack.queries * stack.config.head_width, operations, passes=2)


def mlp_activation_bytes(stack: StackShape, widths: list[int]) -> int:
    """What a network on positions keeps: the numbers before and after each activation, and where the weights are stored in half
    precision also their copies in single precision."""
    values = SINGLE * 2 * stack.length * sum(widths[1:-1])
    weights = SINGLE * sum(inputs * outputs for inputs, outputs in pairwise(widths))
    return values + (weights if stack.bytes_per_number < SINGLE else 0)
