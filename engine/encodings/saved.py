"""How rows say what their encodings keep for backward, in bytes. Torch-free.

Counted on top of what attention keeps (:mod:`engine.estimate.memory`). Look-ups and sums keep nothing of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.encodings.work import Reading

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Of a number at each precision."""
SINGLE = BYTES["float32"]
"""Networks on positions compute in single precision at any."""


def size(r: Reading) -> int:
    """Bytes of a number at the run's precision."""
    return BYTES[r.config.dtype]


def kept_by_network(r: Reading, widths: list[int]) -> int:
    """Before and after each activation; and where they are stored in half, the weights in single precision."""
    values = SINGLE * 2 * r.length * sum(widths[1:-1])
    weights = SINGLE * sum(inputs * outputs for inputs, outputs in pairwise(widths))
    return values + (weights if size(r) < SINGLE else 0)


def _nothing(reading: Reading) -> int:
    return 0


def always(config: RunConfig) -> bool:
    return True


def never(config: RunConfig) -> bool:
    return False


@dataclass(frozen=True)
class Saved:
    """What of an encoding's own is kept."""

    known: Callable[[RunConfig], bool] = always
    """Whether there is a formula for it."""
    per_stack: Callable[[Reading], int] = _nothing
    """Once a stack."""
    per_layer: Callable[[Reading], int] = _nothing
    """In every layer."""
    mask_in_bias: bool = False
    """Whether a fused kernel is given bias and mask in one, which it keeps."""


NOTHING = Saved()
UNKNOWN = Saved(known=never)
"""For what nobody has a formula for: it is measured only."""
