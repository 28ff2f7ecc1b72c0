"""The sequences of the text tasks: windows, cut from a text of which a part is held out."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from engine.settings.base import BaseConfig
from engine.tasks.base.data import IGNORE, TaskData
from engine.tasks.text import TextSettings
from engine.tasks.text.encoded import no_window

SPLIT_ONE_IN = 5  # one of so many windows is held out, if the split is by windows


def next_token(source: Tensor, settings: TextSettings) -> Tensor:
    """The token that follows at each position, nothing at the last: [batch, length]."""
    following = source.roll(-1, dims=1)
    # the corpus cuts windows with one token more, and answers the last position, too
    following[:, -1] = IGNORE
    return following


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

    def text_positions(self, rows: Tensor) -> Tensor:
        """The indices of the tokens of some windows in all texts, one after the other: [row, length + 1]."""
        return self.starts[rows, None] + torch.arange(self.length + 1)

    def take(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and next tokens, both [row, length]."""
        cut = self.tokens[self.text_positions(rows)]
        return cut[:, :-1], cut[:, 1:]


class TextCorpus:
    def __init__(self, settings: TextSettings, config: BaseConfig) -> None:
        text = settings.encoded()
        trained = _tensors(text.trained)
        self.names = text.vocabulary.names(settings.vocab_size)
        # the texts that may be trained on, [token] each
        self.trained = (
            trained if settings.text_tokens is None else (_stretch(trained, settings.text_tokens, config.seed),)
        )
        self._held_out = _tensors(text.held_out)
        self._unit = settings.unit
        self._stride = settings.stride if settings.windows == "overlapping" else None
        self._split, self._most, self._seed = settings.split, config.dataset_size, config.seed
        self._cut: dict[tuple[int, bool], tuple[Windows, Tensor]] = {}
        counts = torch.cat(self.trained).bincount()
        # of the training text: the share that the best constant guess gets right
        self.chance = counts.max().item() / counts.sum().item()
        # different tokens in the training text; the vocabulary may have room for more
        self.kinds = int((counts > 0).sum())

    def draw(self, size: int, length: int, generator: torch.Generator, *, held_out: bool) -> tuple[Tensor, Tensor]:
        """Draw inputs and the answers at each position, both [size, length]: with repeats while training; held-out windows each once if
        there are enough. Raises ValueError if there are none."""
        windows, rows = self._draw_windows(size, length, generator, held_out)
        return windows.take(rows)

    def text_positions(self, size: int, length: int, generator: torch.Generator, *, held_out: bool) -> Tensor:
        """The indices of the tokens that :meth:`draw` draws, in all texts one after the other: [size, length + 1]."""
        windows, rows = self._draw_windows(size, length, generator, held_out)
        return windows.text_positions(rows)

    def every(self, length: int, *, held_out: bool) -> tuple[Tensor, Tensor, Tensor]:
        """All windows of a side, in order: inputs and answers, [window, length], and text positions, [window, length + 1]."""
        windows, rows = self._windows(length, held_out)
        return *windows.take(rows), windows.text_positions(rows)

    def _draw_windows(
        self, size: int, length: int, generator: torch.Generator, held_out: bool
    ) -> tuple[Windows, Tensor]:
        windows, rows = self._windows(length, held_out)
        if held_out and len(rows) >= size:
            return windows, rows[torch.randperm(len(rows), generator=generator)[:size]]
        return windows, rows[torch.randint(len(rows), (size,), generator=generator)]

    def _windows(self, length: int, held_out: bool) -> tuple[Windows, Tensor]:
        if (length, held_out) not in self._cut:
            self._cut[length, held_out] = self._side(length, held_out)
        return self._cut[length, held_out]

    def _side(self, length: int, held_out: bool) -> tuple[Windows, Tensor]:
        if held_out and self._split == "plays":
            windows = Windows(self._held_out, length, length)
            rows = torch.arange(len(windows))
        else:
            windows = Windows(self.trained, length, self._stride or length)
            rows = torch.arange(len(windows))[: self._most]
            if self._split == "windows":
                draw = torch.rand(len(rows), generator=torch.Generator().manual_seed(self._seed))
                rows = rows[(draw < 1 / SPLIT_ONE_IN) == held_out]
        if len(rows) == 0:
            side = "held out" if held_out else "to train on"
            raise ValueError(no_window(side, self._unit, length))
        return windows, rows


@lru_cache(maxsize=4)
def text_corpus(settings: TextSettings, config: BaseConfig) -> TextCorpus:
    return TextCorpus(settings, config)


def _tensors(texts: Sequence[np.ndarray]) -> tuple[Tensor, ...]:
    return tuple(map(torch.from_numpy, texts))


def _stretch(texts: Sequence[Tensor], size: int, seed: int) -> Tensor:
    """``size`` tokens in a row of the documents one after the other, from a position that the seed decides, [size]."""
    whole = torch.cat(list(texts))
    last = max(0, len(whole) - size)
    begin = int(torch.randint(last + 1, (1,), generator=torch.Generator().manual_seed(seed)))
    return whole[begin : begin + size]


TASK = TaskData(next_token, corpus=text_corpus)
