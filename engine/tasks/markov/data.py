import torch
from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData
from engine.tasks.markov import MarkovSettings


def draw(batch: int, length: int, settings: MarkovSettings, generator: torch.Generator) -> Tensor:
    """Sequences [batch, length]; the first two symbols are drawn together, the others one by one."""
    source, v = settings.source, settings.vocab_size
    cumulative = torch.from_numpy(source.table.cumsum(axis=2))  # [first, second, next]
    pairs = torch.from_numpy(source.pairs).flatten()  # [first * second]
    start = torch.multinomial(pairs, batch, replacement=True, generator=generator)
    symbols = [start // v, start % v]
    for _ in range(length - 2):
        level = torch.rand(batch, 1, generator=generator, dtype=torch.float64)
        following = (level > cumulative[symbols[-2], symbols[-1]]).sum(dim=1)  # [batch]
        symbols.append(following.clamp(max=v - 1))  # the last sum may fall short of one by rounding
    return torch.stack(symbols, dim=1)


def answer(source: Tensor, settings: MarkovSettings) -> Tensor:
    following = source.roll(-1, dims=1)
    following[:, 0] = following[:, -1] = IGNORE
    return following


TASK = TaskData(answer, draw)
