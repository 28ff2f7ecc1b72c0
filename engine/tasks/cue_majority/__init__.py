"""Majority with a cue: ↑ 3 7 1 → · · · 0. Of the symbols after the cue one of three is high (5 or more of 0 to 9), so the
answer is 0 (low), whatever the cue says. It is asked at the last position.

In training the cue agrees with the answer with probability rho. One attention weight then does what counting would.
An even number of symbols may tie; a tie is low.
"""

from typing import Self

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import LABELLER, SymbolSettings, TaskSpec


class CueMajoritySettings(SymbolSettings):
    vocab_size: int = setting(10, "Symbols", "Number of symbols. The upper half is high.", ge=2, le=1000)
    cue_agreement: float = setting(
        0.5, "Cue agreement (ρ)",
        "How often the cue is the answer in training and validation. One half: it says nothing.", ge=0.0, le=1.0,
    )  # fmt: skip
    cue_randomised: float = setting(0.0, "Cue randomised", "Share of sequences with a random cue.", ge=0.0, le=1.0)
    cue_blanked: float = setting(0.0, "Cue blanked", "Share of sequences with a blank cue.", ge=0.0, le=1.0)

    @property
    def named_tokens(self) -> tuple[str, ...]:
        """The cues low, high and blank."""
        return "↓", "↑", "□"

    def n_answers(self, config: BaseConfig) -> int:
        return 2

    def distinct(self, length: int) -> float:
        return super().distinct(length - 1)

    def decorrelated(self) -> Self:
        return self.model_copy(update={"cue_agreement": 0.5, "cue_randomised": 0.0, "cue_blanked": 0.0})


SPEC = TaskSpec(
    "cue_majority", "Majority with a cue",
    "Are most symbols high? The cue in front may give the answer away.", "↑ 3 7 1 → · · · 0",
    CueMajoritySettings, LABELLER, group="count",
)  # fmt: skip
