import math
from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np

from engine.foundation.formatting import fine_percent, percent
from engine.settings.base import BaseConfig
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import setting, settings_in
from engine.tasks.base import Breach, TaskSettings
from engine.tasks.text import user_texts
from engine.tasks.text.encoded import Encoded, encoded, unknown_shares
from engine.tasks.text.tokens import Unit

MAX_UNKNOWN_SHARE = 0.01  # the largest share of unknown held-out tokens in an experiment
# advice if no vocabulary is large enough
INSTEAD: dict[Unit, str] = {
    "words": "Characters have fewer different tokens (task shakespeare_chars).",
    "characters": "Take a text with fewer different characters.",
}


class TextSettings(TaskSettings):
    unit: ClassVar[Unit]

    text: str = setting("shakespeare", "Text", "Shakespeare's plays, or the name of your own text.")
    plays: int = setting(
        4, "Plays", "Number of plays to train on. Four others are held out. Not for your own text.",
        ge=1, le=34,
    )  # fmt: skip
    text_tokens: int | None = setting(
        None, "Training text",
        "Train on this many tokens in a row, from a random start. Auto: all.", ge=64, le=10_000_000,
    )  # fmt: skip
    windows: Literal["non_overlapping", "overlapping"] = setting(
        "overlapping", "Windows", "Overlapping windows share tokens.",
        labels={"non_overlapping": "Side by side", "overlapping": "Overlapping"},
    )  # fmt: skip
    stride: int = setting(1, "Stride", "Tokens between the starts of two windows.", ge=1, le=1024)
    split: Literal["plays", "windows", "none"] = setting(
        "plays",
        "Held out",
        "Other plays (of your text: the last tenth), one window in five, or the training windows.",
        labels={"plays": "Other plays", "windows": "Windows at random (fault)", "none": "Nothing (fault)"},
    )
    vocab_size: int

    @property
    def n_symbols(self) -> int:
        return self.vocab_size

    def encoded(self) -> Encoded:
        """Raises ValueError with one sentence."""
        return encoded(self.text, self.plays, self.unit, self.vocab_size)

    def unknown_share(self) -> float:
        """The share of the held-out tokens that the vocabulary has not. Raises ValueError if there is no such text."""
        shares = self._unknown_shares()
        return float(shares[min(self.vocab_size, len(shares)) - 1])

    def refuse_unknown(self) -> None:
        """Raises ConfigError if more of the held-out tokens are unknown than an experiment on a text may have."""
        # the unknown token is easy to guess, and a loss over many of them says little about the language
        if self.unknown_share() <= MAX_UNKNOWN_SHARE:
            return
        most = next(row.maximum for row in settings_in(type(self)) if row.name == "vocab_size") or math.inf
        enough = 1 + int(np.argmax(self._unknown_shares() <= MAX_UNKNOWN_SHARE))  # 1 where there is none
        if 1 < enough <= most:
            allowed, hint = f"at least {enough} in an experiment on this text", ""
        else:
            allowed, hint = (
                f"larger than is possible with {self.unit} in an experiment on this text",
                INSTEAD[self.unit],
            )
        share, limit = fine_percent(self.unknown_share()), percent(MAX_UNKNOWN_SHARE)
        sentence = f"{share} of its held-out tokens would be unknown, and at most {limit} may be"
        raise ConfigError([Problem("vocab_size", str(self.vocab_size), f"{allowed}, because {sentence}", hint)])

    def _unknown_shares(self) -> np.ndarray:
        return unknown_shares(self.text, self.plays, self.unit, "held out" if self.split == "plays" else "trained")

    def broken_rules(self, config: BaseConfig) -> Iterator[Breach]:
        shortest = config.min_seq_len or config.seq_len
        if self.text != "shakespeare" and not user_texts.NAME.fullmatch(self.text):
            yield (
                "text",
                "shakespeare, or the name of your own text (32 digits and letters a to f)",
            )
        if config.label_noise:
            yield "label_noise", f"0 for task {config.task}"
        if self.windows == "overlapping" and self.stride >= shortest:
            yield "stride", f"a whole number from 1 to {shortest - 1}: windows of {shortest} tokens then overlap"

    def warnings(self, config: BaseConfig) -> Iterator[str]:
        if self.split == "none":
            yield "Validation reads the training windows again, so it measures memory, not learning."
        if self.split == "windows" and self.windows == "overlapping":
            yield "Validation windows share much text with training windows, so a small gap means little."
