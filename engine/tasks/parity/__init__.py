"""Parity: 1 0 1 → · · 0. Each 1 flips the answer, so no part of the sequence alone says anything about it.

With more than two symbols it is the sum modulo their number.
"""

from engine.settings.fields import setting
from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec


class ParitySettings(SymbolSettings):
    vocab_size: int = setting(2, "Symbols", "Two: parity. More: the sum modulo this number.", ge=2, le=1000)


SPEC = TaskSpec(
    "parity", "Parity", "Is the number of ones odd or even?", "1 0 1 → · · 0",
    ParitySettings, LABELLER, group="count",
)  # fmt: skip
