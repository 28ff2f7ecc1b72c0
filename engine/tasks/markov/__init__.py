"""Markov: name the next symbol of a source. It depends on the last two: 3 1 4 → · 4 ·

Here 4 came after 3 1. The first symbol has no question, because two symbols must come before the answer; nor has the last one.
The source is a table drawn once. Its randomness sets a floor of the loss; a lower loss on trained sequences means that they are memorised.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.base import READER, SymbolSettings, TaskSpec

Array = NDArray[np.float64]
MAX_ROUNDS = 10_000  # of the chain of pairs
SETTLED = 1e-12  # the chain has settled once a step moves less probability


@dataclass(frozen=True)
class MarkovSource:
    table: Array
    """[first, second, next]: the chance of the next symbol after two; each row sums to one."""
    pairs: Array  # [first, second]: the frequency of the pair in the long run; sums to one

    @property
    def entropy_rate(self) -> float:
        """Nats per symbol that no model can save (Cover and Thomas 2006, Elements of Information Theory, theorem 4.2.4)."""
        logs = np.log(self.table, out=np.zeros_like(self.table), where=self.table > 0)
        return float(-(self.pairs[..., None] * self.table * logs).sum())

    @property
    def commonest(self) -> float:
        return float(self.pairs.sum(axis=0).max())


@lru_cache(maxsize=16)
def draw_source(symbols: int, alpha: float, seed: int) -> MarkovSource:
    table = np.random.default_rng(seed).dirichlet(np.full(symbols, alpha), size=(symbols, symbols))  # each row
    return MarkovSource(table, _long_run(table))


def _long_run(table: Array) -> Array:
    """The stationary distribution of pairs, [first, second]."""
    pairs = np.full(table.shape[:2], 1 / table.shape[0] ** 2)
    for _ in range(MAX_ROUNDS):
        # half of the old stays, so that cycles converge, too
        after = (pairs + np.einsum("ab,abc->bc", pairs, table)) / 2
        if np.abs(after - pairs).sum() < SETTLED:
            break
        pairs = after
    return pairs


class MarkovSettings(SymbolSettings):
    vocab_size: int = setting(
        12, "Symbols", "Number of different symbols. With n symbols the source is a table of n³ entries.", ge=2, le=64
    )
    dirichlet_alpha: float = setting(
        0.3, "Evenness (Dirichlet α)", "Small: two symbols nearly determine the next one. Large: nearly any can follow.",
        ge=0.01, le=100.0,
    )  # fmt: skip
    source_seed: int = setting(
        0, "Source", "Seed of the table. The run's seed draws sequences from it.", ge=0, le=2**31 - 1
    )

    @property
    def source(self) -> MarkovSource:
        # the same for training, validation and every seed of a run
        return draw_source(self.vocab_size, self.dirichlet_alpha, self.source_seed)

    @property
    def floor(self) -> float:
        return self.source.entropy_rate

    def chance(self, config: BaseConfig) -> float:
        return self.source.commonest

    def distinct(self, length: int) -> float:
        """The effective number of sequences: that of a uniform choice with the same entropy (Cover and Thomas 2006, theorem 3.1.2)."""
        # exp of more than 709 overflows
        return math.exp(min(700.0, self.source.entropy_rate * length))


SPEC = TaskSpec(
    "markov", "Markov source", "Name the next symbol. It depends on the last two.",
    "3 1 4 → · 4 ·", MarkovSettings, READER, group="next", shortest=3,
)  # fmt: skip
