"""A Markov source of order 2: its table, the frequency of each pair, and the entropy rate of the next symbol."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ROUNDS = 10_000
"""The most steps of the chain of pairs."""
SETTLED = 1e-12
"""The chain has settled where a step moves less probability than this."""


@dataclass(frozen=True)
class Source:
    """A source over ``v`` symbols."""

    table: Array
    """[first, second, next]: the chance of the next symbol after two; each row sums to one."""
    pairs: Array
    """[first, second]: how often the two follow one another in the long run; sums to one."""

    @property
    def entropy_rate(self) -> float:
        """Nats a symbol that no model can save (Cover and Thomas 2006, Elements of Information Theory, theorem 4.2.4)."""
        logs = np.log(self.table, out=np.zeros_like(self.table), where=self.table > 0)
        return float(-(self.pairs[..., None] * self.table * logs).sum())

    @property
    def commonest(self) -> float:
        """The frequency of the commonest symbol."""
        return float(self.pairs.sum(axis=0).max())


@lru_cache(maxsize=16)
def drawn_source(symbols: int, alpha: float, seed: int) -> Source:
    """The source over so many symbols whose rows are drawn from a Dirichlet distribution with all parameters ``alpha``."""
    table = np.random.default_rng(seed).dirichlet(np.full(symbols, alpha), size=(symbols, symbols))
    return Source(table, _long_run(table))


def _long_run(table: Array) -> Array:
    """The stationary distribution of pairs, [first, second]. Each step keeps half of the old, so that cycles converge, too."""
    pairs = np.full(table.shape[:2], 1 / table.shape[0] ** 2)
    for _ in range(ROUNDS):
        following = (pairs + np.einsum("ab,abc->bc", pairs, table)) / 2
        if np.abs(following - pairs).sum() < SETTLED:
            break
        pairs = following
    return pairs
