"""Associative recall: each sequence has its own table from keys to values; no key appears twice before all have appeared. At an
even length the question is written twice."""

import torch
from torch import Tensor

from engine.tasks.base.data import TaskData, answer_at_the_end
from engine.tasks.recall import RecallSettings


def n_pairs(length: int) -> int:
    return (length - 1) // 2


def draw(batch: int, length: int, settings: RecallSettings, generator: torch.Generator) -> Tensor:
    table = torch.randint(settings.n_keys, settings.vocab_size, (batch, settings.n_keys), generator=generator)
    order = torch.rand(batch, settings.n_keys, generator=generator).argsort(dim=1)
    keys = order[:, torch.arange(n_pairs(length)) % settings.n_keys]  # [batch, pair]
    pairs = torch.stack([keys, table.gather(1, keys)], dim=2).flatten(1)  # [batch, pair, 2] -> [batch, 2 * pair]
    chosen = torch.randint(n_pairs(length), (batch, 1), generator=generator)
    question = keys.gather(1, chosen).expand(-1, length - pairs.size(1))
    return torch.cat([pairs, question], dim=1)


def answer(source: Tensor, settings: RecallSettings) -> Tensor:
    written = 2 * n_pairs(source.size(1))
    keys, values = source[:, 0:written:2], source[:, 1:written:2]  # [batch, pair]
    position = (keys == source[:, -1:]).long().argmax(dim=1, keepdim=True)
    return answer_at_the_end(source, values.gather(1, position)[:, 0])


TASK = TaskData(answer, draw)
