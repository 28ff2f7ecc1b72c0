"""Next word: to be , → be , or. A token is a word or the signs between two, unless that is a single space."""

from typing import ClassVar

from engine.settings.fields import setting
from engine.tasks.base import READER, TaskSpec
from engine.tasks.text import TextSettings
from engine.tasks.text.tokens import Unit


class WordSettings(TextSettings):
    unit: ClassVar[Unit] = "words"

    plays: int = setting(
        34, "Plays", "Number of plays to train on. Four others are held out. Not for your own text.",
        ge=1, le=34,
    )  # fmt: skip
    vocab_size: int = setting(
        1000, "Words", "Number of known tokens. All others are one unknown token.", ge=2, le=30_000
    )


SPEC = TaskSpec(
    "shakespeare_words", "Next word", "Predict Shakespeare's next word or sign.",
    "to be , → be , or", WordSettings, READER, group="next", corpus=True,
)  # fmt: skip
