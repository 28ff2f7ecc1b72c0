import torch
from torch import Tensor

from engine.tasks.base.data import TaskData, answer_at_the_end
from engine.tasks.lookup import LookupSettings


def draw(batch: int, length: int, settings: LookupSettings, generator: torch.Generator) -> Tensor:
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


def queried_positions(source: Tensor, settings: LookupSettings) -> Tensor:
    """The positions of the pairs of the asked keys, in the order asked, [batch, look-up]."""
    keys, values = settings.n_keys, settings.vocab_size
    first = source[:, -1:] // (values + 1)
    keys_queried = (first + torch.arange(settings.lookups)) % keys  # [batch, look-up]
    is_queried = source[:, None, :-1] // (values + 1) == keys_queried[:, :, None]  # [batch, look-up, pair]
    positions: Tensor = is_queried.long().argmax(dim=2)
    return positions


def answer(source: Tensor, settings: LookupSettings) -> Tensor:
    """The values as the digits of one number, the first asked key's the highest."""
    values = settings.vocab_size
    fetched = source.gather(1, queried_positions(source, settings)) % (values + 1)  # [batch, look-up]
    digits = values ** torch.arange(settings.lookups - 1, -1, -1)
    return answer_at_the_end(source, (fetched * digits).sum(dim=1))


def true_source(source: Tensor, settings: LookupSettings) -> Tensor:
    """The position of the asked pair, [batch]. Raises ValueError with several look-ups at once."""
    if settings.lookups != 1:
        raise ValueError(f"lookups is {settings.lookups}; it must be 1 where one true source is asked for.")
    return queried_positions(source, settings)[:, 0]


TASK = TaskData(answer, draw, true_source)
