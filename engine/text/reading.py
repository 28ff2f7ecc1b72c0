"""A reader's own text as the tokens of a language model's vocabulary: the one way in for prompts and sentences."""

from __future__ import annotations

from dataclasses import dataclass

from engine.text.encoded import Encoded
from engine.text.tokens import Vocabulary, is_word, joined, name_of, pieces


@dataclass(frozen=True)
class Read:
    """A text as the model reads it."""

    text: str
    tokens: list[int]
    names: list[str]
    """The name of each token in a figure; in brackets what the vocabulary has not."""
    unknown: list[str]
    """Pieces that the vocabulary has not, each once."""


def read_text(trained: Encoded, given: str) -> Read:
    """A given text in the vocabulary of the text that a model is trained on. Spaces and line ends around it are left out.

    Raises ValueError with one sentence where nothing is left.
    """
    vocabulary = trained.vocabulary
    parts = _going_on(list(pieces(given.strip(), trained.unit)), vocabulary)
    if not parts:
        raise ValueError("The prompt is empty; give it at least one word.")
    names = [name_of(part) if part in vocabulary.numbers else f"({name_of(part)})" for part in parts]
    unknown = dict.fromkeys(part for part in parts if part not in vocabulary.numbers)
    return Read(joined(parts, trained.unit), vocabulary.encode(parts).tolist(), names, list(unknown))


def _going_on(parts: list[str], vocabulary: Vocabulary) -> list[str]:
    """A mark at the very end as it stands within a text, with a space or line end after it: the commonest known one."""
    last = parts[-1] if parts else ""
    if not last or is_word(last) or last in vocabulary.numbers:
        return parts
    return [*parts[:-1], next((piece for piece in vocabulary.numbers if piece.startswith(last)), last)]
