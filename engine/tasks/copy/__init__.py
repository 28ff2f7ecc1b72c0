"""Copy: 3 1 4 → 3 1 4. A decoder reads ``3 1 4 3 1 4``."""

from collections.abc import Sequence

from engine.tasks.base import TRANSDUCER, CoupledSettings, TaskSpec


class CopySettings(CoupledSettings):
    def order(self, length: int) -> Sequence[int]:
        return range(length)


SPEC = TaskSpec(
    "copy", "Copy", "Repeat the sequence.", "3 1 4 → 3 1 4", CopySettings, TRANSDUCER, group="rewrite",
    order_matters=True,
)  # fmt: skip
