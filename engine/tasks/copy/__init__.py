"""Copy: 3 1 4 → 3 1 4. A decoder reads ``3 1 4 3 1 4``."""

from engine.tasks.base import TRANSDUCER, SymbolSettings, TaskSpec

SPEC = TaskSpec(
    "copy", "Copy", "Write the sequence again.", "3 1 4 → 3 1 4", SymbolSettings, TRANSDUCER, group="rewrite",
    order_matters=True,
)  # fmt: skip
