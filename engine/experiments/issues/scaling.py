"""The growth of a cost: the slope of log(cost) over log(size) by seed."""

from collections.abc import Callable, Mapping

import numpy as np

from engine.experiments.experiment import Values


def exponent(arms: Mapping[float, str], metric: str) -> Callable[[Values], np.ndarray]:
    """The b in cost = a * size^b by least squares on logarithms; the keys of ``arms`` are the sizes."""
    centred = np.log(list(arms)) - np.log(list(arms)).mean()

    def effect(values: Values) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            costs = np.log([values(arm, metric) for arm in arms.values()])  # [size, seed]
        slopes: np.ndarray = centred @ costs / (centred @ centred)
        return slopes

    return effect


def minus(
    one: Callable[[Values], np.ndarray], other: Callable[[Values], np.ndarray] | float
) -> Callable[[Values], np.ndarray]:
    """The effect "this effect minus the other" by seed."""
    return lambda values: one(values) - (other if isinstance(other, float) else other(values))


def log2_ratio(arm: str, other: str, metric: str, other_metric: str = "") -> Callable[[Values], np.ndarray]:
    """The effect "this arm's number in doublings of the other's": log2 of their ratio."""
    return lambda values: np.log2(values(arm, metric) / values(other, other_metric or metric))
