"""The growth of a cost by seed, as a factor that can be read off: how many times as much for twice the size."""

from collections.abc import Callable, Mapping

import numpy as np

from engine.experiments.experiment import Values


def growth(arms: Mapping[float, str], metric: str) -> Callable[[Values], np.ndarray]:
    """The factor by which a cost grows where the size doubles: 2^b in cost = a * size^b, by least squares on logarithms. 2 means in
    proportion, 4 with the square. The keys of ``arms`` are the sizes."""
    centred = np.log2(list(arms)) - np.log2(list(arms)).mean()

    def effect(values: Values) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            costs = np.log2([values(arm, metric) for arm in arms.values()])  # [size, seed]
        factors: np.ndarray = 2 ** (centred @ costs / (centred @ centred))
        return factors

    return effect


def minus(
    one: Callable[[Values], np.ndarray], other: Callable[[Values], np.ndarray] | float
) -> Callable[[Values], np.ndarray]:
    """The effect "this effect minus the other" by seed."""
    return lambda values: one(values) - (other if isinstance(other, float) else other(values))
