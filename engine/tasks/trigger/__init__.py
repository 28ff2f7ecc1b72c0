"""Trigger: ⊢ 3 5 ? 1 ? → ∅ ∅ ∅ 4 ∅ 3. At a trigger (?) the answer is the mean of all numbers before it, rounded; elsewhere there is
nothing to say (∅).

Softmax must spread a weight of one also where there is nothing to say. The start ⊢ is a token that no answer needs. After the
trigger-conditional task of Ran-Milo 2026 (arXiv 2603.11487), with numbers as tokens and a class for "nothing".
"""

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec


class TriggerSettings(SymbolSettings):
    vocab_size: int = setting(10, "Symbols", "How many numbers: 0, 1, 2, and so on.", ge=2, le=1000)
    trigger_share: float = setting(
        0.25, "Triggers", "Share of “?” among the tokens after the first number.", ge=0.0, le=0.9
    )

    @property
    def named_tokens(self) -> tuple[str, ...]:
        """The start and the trigger."""
        return "⊢", "?"

    @property
    def nothing(self) -> int | None:
        return self.vocab_size

    def n_answers(self, config: BaseConfig) -> int:
        return self.vocab_size + 1

    def chance(self, config: BaseConfig) -> float:
        """The share of "nothing", or that of the commonest number where triggers are more frequent: both means lie near the ends."""
        return max(1 - self.trigger_share * (config.seq_len - 2) / config.seq_len, 1 / self.n_answers(config))

    def distinct(self, length: int) -> float:
        return super().distinct(length - 1)

    def answer_name(self, answer: int) -> str:
        return "∅" if answer == self.nothing else super().answer_name(answer)


SPEC = TaskSpec(
    "trigger", "Trigger", "At each “?”, write the rounded mean of the numbers before it. Elsewhere, write ∅.",
    "⊢ 3 5 ? 1 ? → ∅ ∅ ∅ 4 ∅ 3", TriggerSettings, LABELLER, group="count", order_matters=True,
)  # fmt: skip
