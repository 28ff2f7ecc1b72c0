"""Look-up: c1 a0 b3 b? → · · · 3. Pairs of a key and its value, one token each, then the asked key.

A token's embedding is the sum of its key's row and its value's, so that what belongs together stands in one place.

With several look-ups at once the keys from the asked one on count, in order (after the last comes the first), and the
one answer names all their values: c1 a0 b3 b? → · · · 3 1 for b and c. One position has to fetch them all.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.tasks.rule import IGNORE, TaskRule

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"


def draw(batch: int, length: int, settings: Any, generator: torch.Generator) -> Tensor:
    """Tokens ``key * (values + 1) + value``: pairs in random order, then the first asked key with the value that asks."""
    keys, values, pairs = settings.n_keys, settings.vocab_size, length - 1
    first = torch.randint(keys, (batch, 1), generator=generator)
    after = (torch.arange(keys) - first) % keys  # [batch, key]: how far after the first asked one
    # Asked keys come below all others, so that they are among the smallest ``pairs``.
    rank = torch.rand(batch, keys, generator=generator) - (after < settings.lookups).float()
    present = rank.topk(pairs, largest=False).indices  # [batch, pair]
    order = torch.rand(batch, pairs, generator=generator).argsort(dim=1)
    present = present.gather(1, order)
    value = torch.randint(values, (batch, pairs), generator=generator)
    return torch.cat([present * (values + 1) + value, first * (values + 1) + values], dim=1)


def asked_places(source: Tensor, settings: Any) -> Tensor:
    """Where the pairs of the asked keys stand, in the order asked: [batch, look-up]."""
    keys, values = settings.n_keys, settings.vocab_size
    first = source[:, -1:] // (values + 1)
    asked = (first + torch.arange(settings.lookups)) % keys  # [batch, look-up]
    found = source[:, None, :-1] // (values + 1) == asked[:, :, None]  # [batch, look-up, pair]
    places: Tensor = found.long().argmax(dim=2)
    return places


def answer(source: Tensor, settings: Any) -> Tensor:
    """The values as the digits of one number, the first asked key's the highest."""
    values = settings.vocab_size
    fetched = source.gather(1, asked_places(source, settings)) % (values + 1)  # [batch, look-up]
    digits = values ** torch.arange(settings.lookups - 1, -1, -1)
    answers = torch.full_like(source, IGNORE)
    answers[:, -1] = (fetched * digits).sum(dim=1)
    return answers


def true_source(source: Tensor, settings: Any) -> Tensor:
    if settings.lookups != 1:
        raise ValueError(f"lookups is {settings.lookups}; allowed is 1 where one true source is asked for.")
    return asked_places(source, settings)[:, 0]


def distinct(settings: Any, length: int) -> int:
    """Orders of the pairs left out."""
    return int(settings.vocab_size ** (length - 1) * settings.n_keys)


def token_name(settings: Any, token: int) -> str:
    key, value = divmod(token, settings.vocab_size + 1)
    return f"{LETTERS[key]}{'?' if value == settings.vocab_size else value}"


def answer_name(settings: Any, index: int) -> str:
    digits = [index // settings.vocab_size**place % settings.vocab_size for place in range(settings.lookups)]
    return " ".join(map(str, reversed(digits)))


TASK = TaskRule(
    answer=answer,
    draw=draw,
    distinct=distinct,
    token_name=token_name,
    answer_name=answer_name,
    true_source=true_source,
)
