"""How rows say what their encodings compute: the floating-point operations added to a training step. Torch-free.

Counted as for the model (:mod:`engine.estimate.prediction`): sums, look-ups, activations and masks cost nothing. An
encoding that only looks up and adds (a table, T5's buckets, ALiBi) therefore computes nothing. Time is another matter:
gathering and summing along rows (Shaw, CoPE) moves many numbers for few operations, and takes longer than the count says.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


@dataclass(frozen=True)
class Work:
    """Floating-point operations of one training step, forward and backward."""

    products: float = 0.0
    """Of matrix products and convolutions, a multiplication and an addition each; what torch's own counter sees."""
    elementwise: float = 0.0
    """Of functions of single numbers and turns, one for each operation; a logarithm or a cosine counts as one."""

    @property
    def flops(self) -> float:
        return self.products + self.elementwise

    def __add__(self, other: Work) -> Work:
        return Work(self.products + other.products, self.elementwise + other.elementwise)

    def __rmul__(self, times: int) -> Work:
        return Work(times * self.products, times * self.elementwise)


@dataclass(frozen=True)
class Reading:
    """What one stack reads in a step, and so how often an encoding is asked."""

    config: RunConfig
    length: int
    causal: bool
    padded: bool = False
    """Whether the batch comes with a padding mask."""

    @property
    def layers(self) -> int:
        """What acts on scores, queries or keys is computed anew in every layer, also where layers share it."""
        return self.config.n_layers

    @property
    def pairs(self) -> int:
        """Of a query and a key, in one sequence."""
        return self.length**2

    @property
    def queries(self) -> int:
        """Of every head and sequence."""
        return self.config.batch_size * self.config.n_heads * self.length


def product(rows: int, inputs: int, outputs: int, *, passes: int = 3) -> Work:
    """[rows, inputs] times [inputs, outputs]. ``passes``: forward, and backward once for each side that learning reaches."""
    return Work(products=2.0 * passes * rows * inputs * outputs)


def pointwise(numbers: int, operations: int, *, passes: int = 3) -> Work:
    """So many operations on each number. ``passes`` as for a product: a constant factor takes one way back, a learned one two."""
    return Work(elementwise=float(passes * numbers * operations))


def network(rows: int, widths: list[int], *, passes: int = 3) -> Work:
    """Dense layers one after the other; ``passes`` of the first, whose input may be a constant."""
    (first, *further) = pairwise(widths)
    return sum((product(rows, *sizes) for sizes in further), product(rows, *first, passes=passes))


def turns(r: Reading, operations: int = 3) -> Work:
    """Queries and keys, turned by constants: two products and a sum a number."""
    return r.layers * pointwise(2 * r.queries * r.config.head_width, operations, passes=2)
