"""Own position: 3 1 4 → 0 1 2. The symbols say nothing: an encoding gives the position, or a causal mask and an anchor to count from.

The padded variant draws a length from 1 to n for each sequence: 3 1 · → 0 1 ·, where · is padding that no position may attend to. The
constant variant reads one symbol everywhere: 0 0 0 → 0 1 2.
"""

from typing import Literal

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec


class OwnPositionSettings(SymbolSettings):
    variant: Literal["tokens", "padded", "constant"] = setting(
        "tokens",
        "Input",
        "Random symbols at full length, random lengths with padding, or one symbol everywhere.",
        labels={"tokens": "Random symbols", "padded": "Random lengths, padded", "constant": "One symbol"},
    )
    bos: bool = setting(
        False, "Begin-of-sequence token", "A marker before position 0, from which a causal model can count."
    )

    @property
    def extra_tokens(self) -> int:
        return 2

    @property
    def lead_tokens(self) -> int:
        return int(self.bos)

    @property
    def pad_token(self) -> int | None:
        # just above the symbols is the begin-of-sequence token
        return self.n_symbols + 1 if self.variant == "padded" else None

    def n_answers(self, config: BaseConfig) -> int:
        return max(config.seq_len, *config.test_lengths, 0)

    def chance(self, config: BaseConfig) -> float:
        """The chance of position 0, the commonest: of n lengths it occurs in all, of n(n+1)/2 positions."""
        return 2 / (config.seq_len + 1) if self.variant == "padded" else 1 / config.seq_len

    def distinct(self, length: int) -> float:
        return 1 if self.variant == "constant" else super().distinct(length)

    def beyond_offsets(self, config: BaseConfig) -> str | None:
        if self.variant != "constant" or self.bos:
            return None
        return "With one symbol everywhere and no absolute positions, all positions look the same. Chance is the limit."


SPEC = TaskSpec(
    "own_position", "Own position", "Name the position. The symbols do not help.", "3 1 4 → 0 1 2",
    OwnPositionSettings, LABELLER, group="place", order_matters=True,
)  # fmt: skip
