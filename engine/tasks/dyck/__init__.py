"""Bracket depth: ( ( ) → 1 2 1. How many brackets are open after each symbol, counted from 0 up to a greatest depth.

With greatest depth 2: ( ( ( ) ) → 1 2 2 1 0. An opening bracket at the greatest depth and a closing one at 0 change nothing, so
the depth depends on the order of the brackets and not on their numbers alone: a finite automaton. The lower half of the symbols
open, the others close.
"""

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec


class DyckSettings(SymbolSettings):
    vocab_size: int = setting(
        2, "Symbols", "The lower half are opening brackets, the others closing ones.", ge=2, le=1000
    )
    max_depth: int = setting(4, "Greatest depth", "Largest depth.", ge=1, le=64)

    def n_answers(self, config: BaseConfig) -> int:
        return self.max_depth + 1


SPEC = TaskSpec(
    "dyck", "Bracket depth", "How many brackets are open after each one? (0 opens, 1 closes.)", "0 0 1 → 1 2 1",
    DyckSettings, LABELLER, group="count",
)  # fmt: skip
