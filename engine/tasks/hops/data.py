import torch
from torch import Tensor

from engine.tasks.base.data import IGNORE, TaskData, uniform_symbols
from engine.tasks.hops import HopsSettings


def draw(batch: int, length: int, settings: HopsSettings, generator: torch.Generator) -> Tensor:
    if settings.repeats:
        return uniform_symbols(batch, length, settings, generator)
    steps = torch.randint(
        1, settings.vocab_size, (batch, length), generator=generator
    )  # from each symbol to another one
    steps[:, :1] = uniform_symbols(batch, 1, settings, generator)
    return steps.cumsum(dim=1) % settings.vocab_size


def landings(source: Tensor) -> Tensor:
    """The position to which one hop leads from each position, [batch, 1 + length]. Positions count from 1; 0 is nowhere, and leads
    nowhere."""
    symbols, order = source.sort(dim=1, stable=True)  # equal symbols side by side, in the order of their positions
    again = symbols[:, 1:] == symbols[:, :-1]
    after = torch.where(again, order[:, :-1] + 2, 0)  # one place on, and one more since positions count from 1
    nowhere = source.new_zeros(len(source), 1 + source.size(1))
    return nowhere.scatter(1, order[:, 1:] + 1, after)


def ends(source: Tensor, settings: HopsSettings) -> Tensor:
    """The position on which the hops from each position end, [batch, length]. Positions count from 1; 0 is nowhere."""
    landing = landings(source)
    at = landing[:, 1:]
    for _ in range(settings.n_hops - 1):
        at = landing.gather(1, at)
    return at


def answer(source: Tensor, settings: HopsSettings) -> Tensor:
    return torch.cat([torch.full_like(source[:, :1], IGNORE), source], dim=1).gather(1, ends(source, settings))


def true_source(source: Tensor, settings: HopsSettings) -> Tensor:
    """The position on which the last position's hops end, [batch]; -1 if they lead nowhere. Raises ValueError with repeats."""
    # a hop can then end on the position that asks
    if settings.repeats:
        raise ValueError("repeats is True; it must be False where one true source is asked for.")
    return ends(source, settings)[:, -1] - 1


TASK = TaskData(answer, draw, true_source)
