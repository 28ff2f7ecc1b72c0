"""A text as token numbers, with a part of it held out, encoded once per process; prompts and sentences in the same vocabulary."""

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

USER_TEXT_ONE_IN = 10  # the last tenth of a user's text is held out


def documents(text: str, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts to train on and the held-out ones. Raises ValueError with one sentence."""
    if text == "shakespeare":
        return tuple(map(plays.read, plays.trained_plays(count))), tuple(map(plays.read, plays.HELD_OUT))
    whole = user_texts.read(text)
    end = len(whole) - len(whole) // USER_TEXT_ONE_IN
    return (whole[:end],), (whole[end:],)


def without_window(text: str, unit: Unit, length: int) -> str:
    """One sentence if a part of the text has no window of that length, else empty. Raises ValueError if there is no such text."""
    for side, (document, *_) in zip(("to train on", "held out"), documents(text, 1), strict=True):
        if not has_pieces(document, unit, length + 1):
            return no_window(side, unit, length)
    return ""


def no_window(side: str, unit: Unit, length: int) -> str:
    """``side``: "to train on" or "held out"."""
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
    """[token] bool, over the held-out documents one after the other: true for a word, known or not, false for layout."""


@once_of_latest(4)
def encoded(text: str, count: int, unit: Unit, size: int) -> Encoded:
    """``count``: the plays to train on; ``size``: the tokens of the vocabulary. Raises ValueError with one sentence."""
    trained, held_out = ([pieces(document, unit) for document in side] for side in documents(text, count))
    vocabulary = vocabulary_of(trained, size)
    words = np.array([is_word(piece) for document in held_out for piece in document], dtype=bool)
    learned, tested = (tuple(map(vocabulary.encode, side)) for side in (trained, held_out))
    return Encoded(unit, vocabulary, learned, tested, words)


@once_of_latest(8)
def unknown_shares(text: str, count: int, unit: Unit, side: Literal["trained", "held out"]) -> np.ndarray:
    """The share of the tokens of a side that are unknown to a vocabulary of the n commonest pieces of the side to train on, for each n
    from 0: [n + 1]. Raises ValueError with one sentence."""
    # only counted, which takes a fraction of the time of encoded()
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
    text: str
    tokens: list[int]
    names: list[str]  # each token's name in a figure; in brackets if the vocabulary has it not
    unknown: list[str]  # pieces that the vocabulary has not, each once


def read_text(trained: Encoded, given: str) -> TokenizedText:
    """Read a given text in the vocabulary of the text that a model is trained on, without spaces and line ends around it.

    Raises ValueError with one sentence if nothing is left.
    """
    # half of a surrogate pair, which UTF-8 cannot write
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
    """Replace a mark at the very end by the commonest known one with a space or line end after it, as within a text."""
    last = parts[-1] if parts else ""
    if not last or is_word(last) or last in vocabulary.numbers:
        return parts
    return [*parts[:-1], next((piece for piece in vocabulary.numbers if piece.startswith(last)), last)]
