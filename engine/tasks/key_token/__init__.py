"""Key token: 3 1 K2 → 1 3 ·, since with four symbols (3 + 2) mod 4 = 1 and (1 + 2) mod 4 = 3; the key is not asked.

The key's value j moves every symbol: y_i = (x_i + j) mod V. The shortcut: in training y_i = g(i) with probability rho,
independently at each position, for one fixed g. With rho = 1/V symbols are uniform and g says nothing.
"""

from typing import Self

from engine.settings.fields import setting
from engine.tasks.base import ENCODER, SymbolSettings, TaskSpec


class KeyTokenSettings(SymbolSettings):
    vocab_size: int = setting(4, "Symbols", "Number of symbols, and of keys. Chance is one over it.", ge=2, le=1000)
    shortcut: float | None = setting(
        None, "Shortcut strength (ρ)",
        "How often the position alone predicts the answer in training and validation. Auto: as by chance.",
        ge=0.0, le=1.0,
    )  # fmt: skip

    @property
    def named_tokens(self) -> tuple[str, ...]:
        return tuple(f"K{j}" for j in range(self.vocab_size))

    def distinct(self, length: int) -> float:
        keys = length * self.vocab_size  # a key at each position, times the symbols
        # without exception the shortcut decides all symbols
        exact = self.shortcut == 1.0 or (self.vocab_size == 2 and self.shortcut == 0.0)
        return keys if exact else keys * super().distinct(length - 1)

    def decorrelated(self) -> Self:
        return self.model_copy(update={"shortcut": None})


SPEC = TaskSpec(
    "key_token", "Key token",
    "Add the key, which is somewhere in the sequence, to every symbol (modulo their number).", "3 1 K2 → 1 3 ·",
    KeyTokenSettings, ENCODER, group="symbol",
)  # fmt: skip
