"""k back: with k = 3, 3 1 4 7 → · · · 3. The relation is a fixed offset, so relative encodings have it easy."""

from collections.abc import Iterator

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, Breach, SymbolSettings, TaskSpec

DIGITS = "3141"
"""The first symbols of the worked sample; of more places back there is no room for one."""


class KBackSettings(SymbolSettings):
    k: int = setting(3, "k", "Positions to look back.", ge=1, le=64)

    def sample(self, usual: str) -> str:
        if self.k > len(DIGITS):
            return f"k = {self.k}"
        answers = ["·"] * self.k + [DIGITS[0]]
        return f"k = {self.k}: {' '.join(DIGITS[: self.k])} 7 → {' '.join(answers)}"

    def broken_rules(self, config: BaseConfig) -> Iterator[Breach]:
        shortest = config.min_seq_len or config.seq_len
        if self.k >= shortest:
            yield "k", f"a whole number from 1 to {shortest - 1}, less than the shortest length"


SPEC = TaskSpec(
    "k_back", "k back", "At each position, name the symbol k positions earlier.", "k = 3: 3 1 4 7 → · · · 3", KBackSettings,
    LABELLER, group="place", order_matters=True,
)  # fmt: skip
