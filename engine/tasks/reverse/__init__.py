"""Reverse: 3 1 4 → 4 1 3.

A decoder reads ``3 1 4 4 1 3`` and predicts each next token: the first half cannot be known, the second half can. A first half
above chance is the alarm that the mask leaks.
"""

from collections.abc import Sequence

from engine.settings.base import BaseConfig
from engine.tasks.base import TRANSDUCER, CoupledSettings, TaskSpec


class ReverseSettings(CoupledSettings):
    def order(self, length: int) -> Sequence[int]:
        return range(length)[::-1]

    def beyond_offsets(self, config: BaseConfig) -> str | None:
        if config.n_layers > 1 or self.coupled_positions:
            return None
        return (
            "To reverse, each position must read at another distance. A relative encoding in one layer cannot do that."
        )


SPEC = TaskSpec(
    "reverse", "Reverse", "Write the sequence backwards.", "3 1 4 → 4 1 3", ReverseSettings, TRANSDUCER,
    group="rewrite", order_matters=True,
)  # fmt: skip
