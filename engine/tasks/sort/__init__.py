"""Sort: 3 1 4 → 1 3 4. A decoder reads ``3 1 4 1 3 4``; content decides, position hardly."""

from engine.tasks.base import TRANSDUCER, SymbolSettings, TaskSpec

SPEC = TaskSpec(
    "sort", "Sort", "Write the symbols in ascending order.", "3 1 4 → 1 3 4", SymbolSettings, TRANSDUCER,
    group="rewrite",
)  # fmt: skip
