"""Associative recall: 0 7 1 5 0 → · · · · 7. Pairs of key and value, then a key: name its value.

The lower half of the symbols are keys, the others values. Source: Ba et al. 2016, Using Fast Weights to Attend to the Recent
Past, section 4.1.
"""

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec


class RecallSettings(SymbolSettings):
    vocab_size: int = setting(8, "Symbols", "The lower half are keys, the upper half values.", ge=4, le=1000)

    @property
    def n_keys(self) -> int:
        """The number of symbols that are keys; they are numbered before the values."""
        return self.vocab_size // 2

    def chance(self, config: BaseConfig) -> float:
        return 1 / (self.vocab_size - self.n_keys)


SPEC = TaskSpec(
    "recall", "Associative recall", "The sequence has pairs of key and value, then a key. Name its value.",
    "0 7 1 5 0 → · · · · 7", RecallSettings, LABELLER, group="symbol", shortest=3,
)  # fmt: skip
