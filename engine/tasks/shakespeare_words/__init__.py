"""Next word: to be , → be , or. A token is a word or the signs between two, unless that is a single space."""

from typing import ClassVar

from engine.settings.fields import setting
from engine.tasks.base import READER, TaskSpec
from engine.tasks.text import TextSettings
from engine.tasks.text.tokens import Unit


class WordSettings(TextSettings):
    unit: ClassVar[Unit] = "words"

    plays: int = setting(
        34, "Plays", "How many plays to train on; four others are held out. Not for a text of your own.",
        ge=1, le=34,
    )  # fmt: skip
    vocab_size: int = setting(1000, "Words", "The commonest ones; all others are one unknown token.", ge=2, le=30_000)


SPEC = TaskSpec(
    "shakespeare_words", "Next word",
    "Name the next word, or what stands before it, of Shakespeare's plays or of a text of your own.",
    "to be , → be , or", WordSettings, READER, group="next", corpus=True,
)  # fmt: skip
