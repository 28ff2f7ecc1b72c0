"""Content offset: 3₁ 1₁ 4₂ → · 3 3. Each token has a symbol c and an offset o and asks for the symbol o positions earlier: y_i = c_(i
- o_i). The relation is relative, but the content decides which.

A token's number is c + vocabulary * (o - 1).
"""

from collections.abc import Iterator
from math import prod

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class ContentOffsetSettings(SymbolSettings):
    max_offset: int = setting(
        4, "Largest offset", "Each token asks for a symbol up to this many positions back.", ge=1, le=64
    )

    @property
    def n_symbols(self) -> int:
        return self.vocab_size * self.max_offset

    def n_answers(self, config: BaseConfig) -> int:
        return self.vocab_size

    def distinct(self, length: int) -> float:
        # without their offsets
        return int(self.vocab_size**length)

    def warnings(self, config: BaseConfig) -> Iterator[str]:
        asks_nothing = prod(max(0.0, 1 - i / self.max_offset) for i in range(config.seq_len)) ** config.batch_size
        if asks_nothing * config.steps >= 1:
            yield (
                f"About {asks_nothing:.0%} of the batches contain no question, because all offsets point before the sequence. Such a "
                "step has no loss. Remedy: a larger batch or length, or a smaller max_offset."
            )

    def token_name(self, token: int) -> str:
        offset, symbol = divmod(token, self.vocab_size)
        return str(symbol) + str(offset + 1).translate(SUBSCRIPTS)


SPEC = TaskSpec(
    "content_offset", "Content offset", "Each token says how far back to look. Name the symbol there.",
    "3₁ 1₁ 4₂ → · 3 3", ContentOffsetSettings, LABELLER, group="place", order_matters=True,
)  # fmt: skip
