"""Neighbour sum: with 10 symbols, 3 1 9 → · 4 0. The relation is a fixed offset, and both symbols count."""

from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec

SPEC = TaskSpec(
    "neighbour_sum", "Neighbour sum",
    "Add each symbol to the one before it, modulo the number of symbols.", "10 symbols: 3 1 9 → · 4 0",
    SymbolSettings, LABELLER, group="place", order_matters=True,
)  # fmt: skip
