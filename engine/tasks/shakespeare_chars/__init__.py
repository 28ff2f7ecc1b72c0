"""Next character: T o ␣ b → o ␣ b e. Of Shakespeare's plays, or of a user's text."""

from typing import ClassVar

from engine.settings.fields import setting
from engine.tasks.base import READER, TaskSpec
from engine.tasks.text import TextSettings
from engine.tasks.text.tokens import Unit


class CharacterSettings(TextSettings):
    unit: ClassVar[Unit] = "characters"

    vocab_size: int = setting(
        80, "Characters", "Number of known tokens. All others are one unknown token.", ge=2, le=1000
    )


SPEC = TaskSpec(
    "shakespeare_chars", "Next character", "Predict Shakespeare's next character.",
    "T o ␣ b → o ␣ b e", CharacterSettings, READER, group="next", corpus=True,
)  # fmt: skip
