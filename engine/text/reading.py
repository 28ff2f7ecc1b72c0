"""A reader's own text as the tokens of a language model's vocabulary: the one way in for prompts and sentences."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.tasks import TASKS
from engine.text.corpus import text_of, unit_of
from engine.text.tokens import Vocabulary, is_word, joined, name_of, pieces


@dataclass(frozen=True)
class Read:
    """A text as the model reads it."""

    text: str
    tokens: list[int]
    names: list[str]
    """What stands for each token on a picture; in brackets what the vocabulary has not."""
    unknown: list[str]
    """Pieces that the vocabulary has not, each once."""


def read_text(config: RunConfig, given: str) -> Read:
    """Spaces and line ends around it are left out. Raises ValueError with one sentence."""
    if not TASKS[config.task].corpus:
        raise ValueError(f"task is {config.task}; only a run on a text can read one.")
    vocabulary = text_of(config).vocabulary
    parts = _going_on(list(pieces(given.strip(), unit_of(config))), vocabulary)
    if not parts:
        raise ValueError("The prompt is empty; give it at least one word.")
    names = [name_of(part) if part in vocabulary.numbers else f"({name_of(part)})" for part in parts]
    unknown = dict.fromkeys(part for part in parts if part not in vocabulary.numbers)
    return Read(joined(parts, unit_of(config)), vocabulary.encode(parts).tolist(), names, list(unknown))


def _going_on(parts: list[str], vocabulary: Vocabulary) -> list[str]:
    """A mark at the very end as it stands within a text, with a space or line end after it: the commonest known one."""
    last = parts[-1] if parts else ""
    if not last or is_word(last) or last in vocabulary.numbers:
        return parts
    return [*parts[:-1], next((piece for piece in vocabulary.numbers if piece.startswith(last)), last)]
