"""Batches: sequences are drawn, answered, held out, and laid out for the architecture that reads them.

Randomized positions: the tokens of a sequence get increasing positions, drawn from a range longer than the sequence. Source: Ruoss et
al. 2023, Randomized Positional Encodings Boost Length Generalization of Transformers, section 3. As there, each training batch
draws its positions. In evaluation every token has its mean position in training, so that the same model always gives the same
answer.

Coupled positions: a symbol of the answer has the position of the symbol in the question that it repeats. In training the first
position is drawn for each batch, so that all positions of the longest test sequence are trained; in evaluation it is the mean one.
Source: Cho et al. 2024, Position Coupling: Improving Length Generalization of Arithmetic Transformers Using Task Structure, section
3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import Positions
from engine.estimate.layout import continues, labelled, length_law, shapes, validation_size
from engine.estimate.pieces import TOKENS_PER_DRAW, pieces
from engine.tasks.base import TaskSettings
from engine.tasks.base.data import IGNORE, task_data
from engine.tasks.text import TextSettings

HELD_OUT_ONE_IN = 5  # one of so many distinct sequences is never trained on
FEWEST_DISTINCT = 64  # with fewer distinct sequences none can be held out; validation then repeats trained ones
# difference between the seeds of two streams of held-out sequences; odd and large, so that the streams of nearby seeds do not
# meet
STREAM_STEP = 0x9E3779B1


@dataclass(frozen=True)
class Batch:
    inputs: Tensor  # tokens, [batch, length]
    targets: Tensor  # classes, [batch, length]; IGNORE at positions without an answer
    regions: dict[str, slice]  # the positions that each metric counts
    source: Tensor | None = None  # tokens of the encoder side, [batch, source_length]
    token_mask: Tensor | None = None  # true for a real token, [batch, length] bool; None if all are real
    positions: Positions | None = None  # [length]; None if they are 0, 1, 2, ...
    source_positions: Positions | None = None  # [source_length]; None if they are 0, 1, 2, ...
    text: bool = False  # a stretch of text: exp(loss) is its perplexity

    @property
    def tensors(self) -> dict[str, Tensor]:
        return {name: value for name, value in vars(self).items() if isinstance(value, Tensor)}

    def having(self, tensors: dict[str, Tensor]) -> Batch:
        return Batch(**{**vars(self), **tensors})

    def to(self, device: torch.device) -> Batch:
        return self.having({name: value.to(device) for name, value in self.tensors.items()})

    def rows(self, which: slice) -> Batch:
        return self.having({name: value[which] for name, value in self.tensors.items()})


def text_settings_of(config: RunConfig) -> TextSettings:
    """Raises ValueError with one sentence for a task without a text."""
    if not isinstance(config.task_settings, TextSettings):
        raise ValueError(f"task is {config.task}; only a run on a text can read one.")
    return config.task_settings


class Data:
    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.task = task_data(config.task)
        self.corpus = None if self.task.corpus is None else self.task.corpus(config.task_settings, config)
        self.generator = torch.Generator().manual_seed(config.seed)
        fixed = config.dataset_size is not None and self.corpus is None
        self._counts = counts_by_length(length_law(config), config.dataset_size or 0) if fixed else {}
        self._lengths = {n: share for n, share in length_law(config).items() if n in self._counts or not fixed}
        self._sets: dict[int, tuple[Tensor, Tensor]] = {}
        self.undrawn = self._draw_sets()
        """Draws the rest of a fixed training set, a large one in pieces; so does the first training batch."""

    def _draw_sets(self) -> Iterator[None]:
        for n, count in self._counts.items():
            if count * n <= TOKENS_PER_DRAW:
                self._sets[n] = self._pairs(count, n)
                continue
            source, answer = torch.empty(2, count, n, dtype=torch.long)
            for rows in pieces(count, max(1, TOKENS_PER_DRAW // n)):
                source[rows], answer[rows] = self._pairs(rows.stop - rows.start, n)
                yield
            self._sets[n] = source, answer

    def holds_out(self, n: int) -> bool:
        return self.corpus is not None or self.config.task_settings.distinct(n) >= FEWEST_DISTINCT

    def chance(self) -> float:
        if self.corpus is not None:
            return self.corpus.chance
        return self.config.task_settings.chance(self.config)

    def training_batch(self) -> Batch:
        """The next batch, [batch, length]; all sequences of one batch have one length."""
        for _ in self.undrawn:
            pass
        n = self._training_length()
        if self.corpus is not None:
            drawn_text = self.corpus.draw(self.config.batch_size, n, self.generator, held_out=False)
            return self._displaced(self.frame(*drawn_text))
        if not self._sets:
            return self._displaced(self.frame(*self._pairs(self.config.batch_size, n)))
        source, answer = self._sets[n]
        rows = torch.randint(len(source), (self.config.batch_size,), generator=self.generator)
        return self._displaced(self.frame(source[rows], answer[rows]))

    def training_batches(self, count: int) -> list[tuple[Tensor, Batch]]:
        """The next ``count`` batches of :meth:`training_batch`, each with the state of the generator before it."""
        batches, draws_alike = list[tuple[Tensor, Batch]](), self._draws_alike
        while len(batches) < count:
            if draws_alike and count - len(batches) > 1:
                # drawn one batch after the other, as ever, but sorted out and answered together, which is quicker
                batches += self._together(count - len(batches))
            if len(batches) < count:
                batches.append((self.generator.get_state(), self.training_batch()))
        return batches

    @property
    def _draws_alike(self) -> bool:
        config, settings = self.config, self.config.task_settings
        fresh = self.corpus is None and config.dataset_size is None and self.holds_out(config.seq_len)
        placed = config.randomized_positions > 1 or settings.partners(config.seq_len) is not None
        plain = not placed and not config.label_noise and settings.pad_token is None
        return fresh and plain and len(self._lengths) == 1

    def _together(self, count: int) -> list[tuple[Tensor, Batch]]:
        """The next batches up to the first that needs a second draw: at most ``count``, maybe none."""
        size, n, settings = self.config.batch_size, self.config.seq_len, self.config.task_settings
        states, draws = list[Tensor](), list[Tensor]()
        for _ in range(count):
            states.append(self.generator.get_state())
            draws.append(self.task.draw(draw_size(size), n, settings, self.generator))
        candidates = torch.stack(draws)  # [batch, row, n]
        in_split = ~is_held_out(candidates.flatten(0, 1)).view(candidates.shape[:2])
        enough = (in_split.sum(dim=1) >= size).tolist()
        good = enough.index(False) if False in enough else count
        if good < count:
            self.generator.set_state(states[good])
        if not good:
            return []
        first = in_split[:good].byte().argsort(dim=1, descending=True, stable=True)[:, :size]  # the first kept rows
        source = candidates[:good].gather(1, first[:, :, None].expand(-1, -1, n)).flatten(0, 1)
        whole = self.frame(source, self.task.answer(source, settings))
        parts = {name: torch.split(value, size) for name, value in whole.tensors.items()}
        return [(states[i], whole.having({name: part[i] for name, part in parts.items()})) for i in range(good)]

    def _training_length(self) -> int:
        law = self._lengths
        if len(law) == 1:
            return self.config.seq_len
        if self.config.length_decay == 1.0:
            return int(torch.randint(min(law), max(law) + 1, (1,), generator=self.generator))
        return list(law)[int(torch.multinomial(torch.tensor(list(law.values())), 1, generator=self.generator))]

    def _displaced(self, batch: Batch) -> Batch:
        limit, n = shapes(self.config).position_range, (batch.inputs.size(1) + 1) // 2
        if (partners := self.config.task_settings.partners(n)) is not None:
            first = int(torch.randint(limit - n + 1, (1,), generator=self.generator))
            return replace(batch, positions=coupled(partners, first))
        if self.config.randomized_positions == 1:
            return batch
        at = draw_positions(batch.inputs.size(1), limit, self.generator)
        source = None if batch.source is None else draw_positions(batch.source.size(1), limit, self.generator)
        return replace(batch, positions=at, source_positions=source)

    def validation_batch(self, n: int | None = None, size: int | None = None) -> Batch:
        """Held-out sequences with clean answers, drawn as in training, always the same for one seed, length and size."""
        return self._held_out_batch(self.config.task_settings, n, size, stream=1)

    def decorrelated_batch(self, size: int, stream: int = 1) -> Batch:
        """Held-out sequences without the correlation that training has, if the task has one.

        Each ``stream`` gives other sequences, always the same for one seed.
        """
        return self._held_out_batch(self.config.task_settings.decorrelated(), None, size, stream)

    def _held_out_batch(self, settings: TaskSettings, n: int | None, size: int | None, stream: int) -> Batch:
        n = n or self.config.seq_len
        size, generator = size or validation_size(n), self._held_out_generator(stream)
        if self.corpus is not None:
            return self.frame(*self.corpus.draw(size, n, generator, held_out=True))
        source = self._draw(size, n, settings, generator, held_out=True)
        return self.frame(source, self.task.answer(source, settings))

    def validation_positions(self) -> Tensor:
        """The indices of the tokens of :meth:`validation_batch` in the held-out text, [row, length + 1]. Only for tasks with a corpus."""
        assert self.corpus is not None
        n = self.config.seq_len
        return self.corpus.text_positions(validation_size(n), n, self._held_out_generator(stream=1), held_out=True)

    def _held_out_generator(self, stream: int) -> torch.Generator:
        # A generator takes the low 32 bits of its seed only: streams have to differ there.
        return torch.Generator().manual_seed((self.config.seed + (stream - 1) * STREAM_STEP) % 2**32)

    def _pairs(self, size: int, n: int) -> tuple[Tensor, Tensor]:
        # source and answer: [size, n]
        source = self._draw(size, n, self.config.task_settings, self.generator, held_out=False)
        answer = self.task.answer(source, self.config.task_settings)
        if self.config.label_noise:
            outputs = labelled(self.config, n).n_outputs
            wrong = torch.randint(outputs, answer.shape, generator=self.generator)
            noisy = torch.rand(answer.shape, generator=self.generator) < self.config.label_noise
            answer = torch.where(noisy & (answer != IGNORE), wrong, answer)
        return source, answer

    def _draw(self, size: int, n: int, settings: TaskSettings, generator: torch.Generator, *, held_out: bool) -> Tensor:
        """Sequences of the training side or of the held-out side, [size, n]. The side depends on the sequence alone."""
        if settings.distinct(n) < FEWEST_DISTINCT:
            return self.task.draw(size, n, settings, generator)
        batches: list[Tensor] = []
        at_once = 2 * HELD_OUT_ONE_IN * size + 8 if held_out else draw_size(size)
        while sum(map(len, batches)) < size:
            candidates = self.task.draw(at_once, n, settings, generator)
            batches.append(candidates[is_held_out(candidates) == held_out])
        return torch.cat(batches)[:size]

    def frame(self, source: Tensor, answer: Tensor) -> Batch:
        """The batch in the architecture's layout; ``source`` and ``answer`` [batch, n]. Randomized positions are spread evenly, coupled
        ones are in the middle of their range."""
        batch, limit = self._laid_out(source, answer), shapes(self.config).position_range
        n = source.size(1)
        if (partners := self.config.task_settings.partners(n)) is not None:
            return replace(batch, positions=coupled(partners, max(0, limit - n) // 2))
        if self.config.randomized_positions == 1:
            return batch
        source_positions = None if batch.source is None else spread(batch.source.size(1), limit)
        return replace(batch, positions=spread(batch.inputs.size(1), limit), source_positions=source_positions)

    def _laid_out(self, source: Tensor, answer: Tensor) -> Batch:
        config, settings, n = self.config, self.config.task_settings, source.size(1)
        bos = source.new_full((len(source), 1), settings.n_symbols)
        if continues(config):
            line = torch.cat([source, answer], dim=1)  # [batch, 2n]
            halves = {"second_half_accuracy": slice(n - 1, None), "first_half_accuracy": slice(0, n - 1)}
            return Batch(line[:, :-1], line[:, 1:], halves)
        whole = {"accuracy": slice(None)}
        if config.family == "encoder_decoder":
            return Batch(torch.cat([bos, answer[:, :-1]], dim=1), answer, whole, source=source)
        if settings.lead_tokens:
            source = torch.cat([bos, source], dim=1)
            answer = torch.cat([torch.full_like(bos, IGNORE), answer], dim=1)
        real = None if settings.pad_token is None else source != settings.pad_token
        real = None if real is None or real.all() else real
        return Batch(source, answer, whole, token_mask=real, text=self.corpus is not None)


def counts_by_length(lengths: Collection[int], size: int) -> dict[int, int]:
    """The number of sequences of each length in a training set of ``size``: equally many, with the rest among the longest. A length
    without sequences is left out."""
    each, rest = divmod(size, len(lengths))
    longest = sorted(lengths)[len(lengths) - rest :]
    return {n: count for n in lengths if (count := each + (n in longest))}


def draw_size(size: int) -> int:
    # more than the batch needs, since some are held out
    return int(size * 1.5) + 8


def is_held_out(source: Tensor) -> Tensor:
    """True for sequences that belong to validation, [batch]: a fixed hash of the tokens, the same in every run."""
    mixed = ((source + 1) * _weights(source.size(1))).sum(dim=1)
    for shift in (17, 29, 13):  # multiply and fold, so that every token reaches every bit
        mixed = (mixed ^ (mixed >> shift)) * 0x2545F4914F6CDD1D
    return (mixed >> 33) % HELD_OUT_ONE_IN == 0


@cache
def _weights(length: int) -> Tensor:
    """An odd number for each position, always the same, [length]."""
    return torch.randint(2**40, (length,), generator=torch.Generator().manual_seed(1)) * 2 + 1


def coupled(partners: Sequence[int], first: int) -> tuple[int, ...]:
    """The positions of a question of n symbols, which count up from ``first``, and of its answer but for the last symbol, [2n - 1]."""
    return tuple(first + offset for offset in (*range(len(partners)), *partners[:-1]))


def draw_positions(length: int, limit: int, generator: torch.Generator) -> tuple[int, ...]:
    # different ones, ascending
    positions: list[int] = torch.randperm(limit, generator=generator)[:length].sort().values.tolist()
    return tuple(positions)


def spread(length: int, limit: int) -> tuple[int, ...]:
    """The mean of each of the positions that :func:`draw_positions` gives, rounded down: (i + 1)(limit + 1) / (length + 1) - 1.

    That is the expected i-th smallest of a sample without replacement (David and Nagaraja 2003, Order Statistics, section 3.7).
    """
    return tuple((i + 1) * (limit + 1) // (length + 1) - 1 for i in range(length))
