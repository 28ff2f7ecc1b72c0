"""Parity: 1 0 1 → · · 0. Every symbol counts, and each flips the answer: no part of the sequence tells anything alone.

With more than two symbols it is the sum modulo their number.
"""

from engine.settings.fields import setting
from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec


class ParitySettings(SymbolSettings):
    vocab_size: int = setting(2, "Symbols", "Two make it parity; more, the sum modulo their number.", ge=2, le=1000)


SPEC = TaskSpec(
    "parity", "Parity", "After the last bit, say whether the ones so far are odd in number.", "1 0 1 → · · 0",
    ParitySettings, LABELLER, group="count",
)  # fmt: skip
