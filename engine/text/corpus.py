"""A text as token numbers, cut into windows, with a part of it held out. Read, counted and encoded once a process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.text import own, plays
from engine.text.tokens import Unit, Vocabulary, is_word, pieces, vocabulary_of

OWN_SHARE = 10
"""The last tenth of a person's own text is held out."""
SPLIT_SHARE = 5
"""Where the split is by windows, one window in so many is held out."""


def documents(text: str, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts to train on and those held out. Raises ValueError with one sentence."""
    if text == "shakespeare":
        return tuple(map(plays.read, plays.trained_plays(count))), tuple(map(plays.read, plays.HELD_OUT))
    whole = own.read(text)
    end = len(whole) - len(whole) // OWN_SHARE
    return (whole[:end],), (whole[end:],)


@dataclass(frozen=True)
class Encoded:
    """The documents as tokens, [token] each."""

    vocabulary: Vocabulary
    trained: tuple[Tensor, ...]
    held_out: tuple[Tensor, ...]
    held_out_words: np.ndarray
    """[token] bool, over the held-out documents one after the other: whether it is a word, known or not, or layout."""


@lru_cache(maxsize=4)
def encoded(text: str, count: int, unit: Unit, size: int) -> Encoded:
    """Raises ValueError with one sentence where there is no such text."""
    trained, held_out = ([pieces(document, unit) for document in side] for side in documents(text, count))
    vocabulary = vocabulary_of(trained, size)
    words = np.array([is_word(piece) for document in held_out for piece in document], dtype=bool)
    return Encoded(vocabulary, _tensors(trained, vocabulary), _tensors(held_out, vocabulary), words)


def _tensors(texts: list[Sequence[str]], vocabulary: Vocabulary) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(vocabulary.encode(text)) for text in texts)


def unit_of(config: Any) -> Unit:
    """What a text task's tokens are."""
    return "characters" if config.task == "shakespeare_chars" else "words"


def text_of(config: Any) -> Encoded:
    """The whole text of a RunConfig. Raises ValueError with one sentence where there is none of that name."""
    return encoded(config.value("text"), config.value("plays"), unit_of(config), config.value("vocab_size"))


class Windows:
    """Stretches of ``length`` + 1 tokens that start every ``stride`` tokens of each document."""

    def __init__(self, texts: Sequence[Tensor], length: int, stride: int) -> None:
        self.length = length
        self.tokens = torch.cat(list(texts))
        begins, begin = [torch.empty(0, dtype=torch.long)], 0
        for text in texts:
            begins.append(torch.arange(begin, begin + max(0, len(text) - length), stride))
            begin += len(text)
        self.starts = torch.cat(begins)

    def __len__(self) -> int:
        return len(self.starts)

    def places(self, rows: Tensor) -> Tensor:
        """Where the tokens of some windows stand in the texts one after the other: [row, length + 1]."""
        return self.starts[rows, None] + torch.arange(self.length + 1)

    def take(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and next tokens of some windows, both [row, length]."""
        cut = self.tokens[self.places(rows)]
        return cut[:, :-1], cut[:, 1:]


class TextCorpus:
    """What a text task trains on and is tested on; see :class:`engine.tasks.parameters.TextParameters`."""

    def __init__(self, config: Any, unit: Unit) -> None:
        s = config.task_settings
        text = encoded(s.text, s.plays, unit, s.vocab_size)
        self.names = text.vocabulary.names(s.vocab_size)
        self._trained = text.trained if s.text_tokens is None else (_stretch(text.trained, s.text_tokens, config.seed),)
        self._held_out = text.held_out
        self._stride = s.stride if s.windows == "overlapping" else None
        self._split, self._most, self._seed = s.split, config.dataset_size, config.seed
        self._cut: dict[tuple[int, bool], tuple[Windows, Tensor]] = {}
        counts = torch.cat(self._trained).bincount()
        self.chance = counts.max().item() / counts.sum().item()

    def draw(self, size: int, length: int, generator: torch.Generator, *, held_out: bool) -> tuple[Tensor, Tensor]:
        """Windows drawn with repeats while training; held-out ones each at most once as far as there are enough."""
        windows, rows = self._drawn(size, length, generator, held_out)
        return windows.take(rows)

    def places(self, size: int, length: int, generator: torch.Generator, *, held_out: bool) -> Tensor:
        """Where the tokens of the windows stand that :meth:`draw` draws, in the texts one after the other: [size, length + 1]."""
        windows, rows = self._drawn(size, length, generator, held_out)
        return windows.places(rows)

    def every(self, length: int, *, held_out: bool) -> tuple[Tensor, Tensor, Tensor]:
        """All windows of a side, in order: inputs and answers, [window, length], and places, [window, length + 1]."""
        windows, rows = self._windows(length, held_out)
        return *windows.take(rows), windows.places(rows)

    @property
    def trained(self) -> tuple[Tensor, ...]:
        """The texts that may be trained on, [token] each."""
        return self._trained

    def _drawn(self, size: int, length: int, generator: torch.Generator, held_out: bool) -> tuple[Windows, Tensor]:
        windows, rows = self._windows(length, held_out)
        if held_out and len(rows) >= size:
            return windows, rows[torch.randperm(len(rows), generator=generator)[:size]]
        return windows, rows[torch.randint(len(rows), (size,), generator=generator)]

    def _windows(self, length: int, held_out: bool) -> tuple[Windows, Tensor]:
        """The windows of a length, and which of them belong to a side."""
        if (length, held_out) not in self._cut:
            self._cut[length, held_out] = self._side(length, held_out)
        return self._cut[length, held_out]

    def _side(self, length: int, held_out: bool) -> tuple[Windows, Tensor]:
        if held_out and self._split == "plays":
            windows = Windows(self._held_out, length, length)
            rows = torch.arange(len(windows))
        else:
            windows = Windows(self._trained, length, self._stride or length)
            rows = torch.arange(len(windows))[: self._most]
            if self._split == "windows":
                draw = torch.rand(len(rows), generator=torch.Generator().manual_seed(self._seed))
                rows = rows[(draw < 1 / SPLIT_SHARE) == held_out]
        if len(rows) == 0:
            side = "held out" if held_out else "to train on"
            raise ValueError(
                f"The text {side} has no window of {length + 1} tokens; take more text or a smaller seq_len."
            )
        return windows, rows


@lru_cache(maxsize=4)
def text_corpus(config: Any, unit: Unit) -> TextCorpus:
    """The corpus of a RunConfig."""
    return TextCorpus(config, unit)


def _stretch(texts: Sequence[Tensor], size: int, seed: int) -> Tensor:
    """So many tokens in a row of the documents one after the other, from a place that the seed decides: [size]."""
    whole = torch.cat(list(texts))
    last = max(0, len(whole) - size)
    begin = int(torch.randint(last + 1, (1,), generator=torch.Generator().manual_seed(seed)))
    return whole[begin : begin + size]
