"""A trained model with its data, and the measurements that are taken from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from engine.config.run_config import RunConfig
from engine.training.data import Data


@dataclass(frozen=True)
class Trained:
    """A trained model, its config and its data: the input of every measurement."""

    config: RunConfig
    model: nn.Module
    data: Data
    device: torch.device


Measure = Callable[[Trained], dict[str, float]]
"""A measurement: returns numbers by name. It must not change weights, mode or the model's random state."""
MeasureByName = Callable[[str, Trained], dict[str, float]]
"""A function that takes the measurement of the given name."""


def nothing_to_measure_with(name: str, trained: Trained) -> dict[str, float]:
    """The ``measure`` of callers that ask for no measurements. Raises ValueError for any name."""
    raise ValueError(f"measurements is {name}; this training was given nothing to measure with.")
