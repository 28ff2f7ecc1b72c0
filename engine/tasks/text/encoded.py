"""A text as token numbers: read, counted and encoded once per process, with a part of it held out; and a reader's own words as tokens
of the same vocabulary, the one way in for prompts and sentences."""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.foundation.once import once_of_latest
from engine.tasks.text import plays, user_texts
from engine.tasks.text.tokens import (
    Unit,
    Vocabulary,
    has_pieces,
    is_word,
    joined,
    name_of,
    normalised,
    pieces,
    vocabulary_of,
)

OWN_SHARE = 10
"""The last tenth of a person's own text is held out."""


def documents(text: str, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts to train on and those held out. Raises ValueError with one sentence."""
    if text == "shakespeare":
        return tuple(map(plays.read, plays.trained_plays(count))), tuple(map(plays.read, plays.HELD_OUT))
    whole = user_texts.read(text)
    end = len(whole) - len(whole) // OWN_SHARE
    return (whole[:end],), (whole[end:],)


def without_window(text: str, unit: Unit, length: int) -> str:
    """Why nothing can be trained on a text at that length, in one sentence: a part of it has no window. Empty where there is no reason.
    Raises ValueError where there is no such text."""
    for side, (document, *_) in zip(("to train on", "held out"), documents(text, 1), strict=True):
        if not has_pieces(document, unit, length + 1):
            return no_window(side, unit, length)
    return ""


def no_window(side: str, unit: Unit, length: int) -> str:
    """That a side of a text, "to train on" or "held out", is too short, in one sentence."""
    remedy = "take more text or a smaller seq_len"
    if unit == "words":
        remedy = "take more text, a smaller seq_len, or characters (task shakespeare_chars)"
    return f"The text {side} has no window of {length + 1} tokens; {remedy}."


@dataclass(frozen=True)
class Encoded:
    """The documents as tokens, [token] int64 each."""

    unit: Unit
    vocabulary: Vocabulary
    trained: tuple[np.ndarray, ...]
    held_out: tuple[np.ndarray, ...]
    held_out_words: np.ndarray
    """[token] bool, over the held-out documents one after the other: whether it is a word, known or not, or layout."""


@once_of_latest(4)
def encoded(text: str, count: int, unit: Unit, size: int) -> Encoded:
    """A text with ``count`` plays to train on and a vocabulary of ``size`` tokens. Raises ValueError with one sentence where
    there is no such text.
    """
    trained, held_out = ([pieces(document, unit) for document in side] for side in documents(text, count))
    vocabulary = vocabulary_of(trained, size)
    words = np.array([is_word(piece) for document in held_out for piece in document], dtype=bool)
    learned, tested = (tuple(map(vocabulary.encode, side)) for side in (trained, held_out))
    return Encoded(unit, vocabulary, learned, tested, words)


@once_of_latest(8)
def unknown_shares(text: str, count: int, unit: Unit, side: Literal["trained", "held out"]) -> np.ndarray:
    """The share of the tokens of a side of a text that are unknown to a vocabulary of the n commonest pieces of the side to train on,
    for each n from 0: [n + 1]. The tokens are only counted, which takes a fraction of the time of :func:`encoded`. Raises ValueError with
    one sentence where there is no such text.
    """
    trained, held_out = documents(text, count)
    ranked = vocabulary_of((pieces(document, unit) for document in trained), sys.maxsize).numbers
    counts = Counter[str]()
    for document in held_out if side == "held out" else trained:
        counts.update(pieces(document, unit))
    known = np.cumsum([0, *(counts[piece] for piece in ranked)])
    shares: np.ndarray = 1 - known / counts.total()
    return shares


@dataclass(frozen=True)
class TokenizedText:
    """A text as the model reads it."""

    text: str
    tokens: list[int]
    names: list[str]
    """The name of each token in a figure; in brackets what the vocabulary has not."""
    unknown: list[str]
    """Pieces that the vocabulary has not, each once."""


def read_text(trained: Encoded, given: str) -> TokenizedText:
    """A given text in the vocabulary of the text that a model is trained on. Spaces and line ends around it are left out.

    Raises ValueError with one sentence where nothing is left.
    """
    if any("\ud800" <= character <= "\udfff" for character in given):
        raise ValueError("The prompt is no text in UTF-8.")
    vocabulary = trained.vocabulary
    parts = _going_on(list(pieces(normalised(given).strip(), trained.unit)), vocabulary)
    if not parts:
        raise ValueError("The prompt is empty; give it at least one word.")
    names = [name_of(part) if part in vocabulary.numbers else f"({name_of(part)})" for part in parts]
    unknown = dict.fromkeys(part for part in parts if part not in vocabulary.numbers)
    return TokenizedText(joined(parts, trained.unit), vocabulary.encode(parts).tolist(), names, list(unknown))


def _going_on(parts: list[str], vocabulary: Vocabulary) -> list[str]:
    """A mark at the very end as it stands within a text, with a space or line end after it: the commonest known one."""
    last = parts[-1] if parts else ""
    if not last or is_word(last) or last in vocabulary.numbers:
        return parts
    return [*parts[:-1], next((piece for piece in vocabulary.numbers if piece.startswith(last)), last)]
