"""First token: 3 1 4 → · 3 3. The answer is retrieved from one absolute position."""

from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec

SPEC = TaskSpec(
    "first_token", "First token", "At each position, name the first symbol of the sequence.", "3 1 4 → · 3 3",
    SymbolSettings, LABELLER, group="place", order_matters=True,
)  # fmt: skip
