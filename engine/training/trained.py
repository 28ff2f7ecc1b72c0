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
    """What a measurement is given."""

    config: RunConfig
    model: nn.Module
    data: Data
    device: torch.device


Measure = Callable[[Trained], dict[str, float]]
"""A measurement: numbers by name. It leaves weights, mode and the model's random state as they were."""
MeasureByName = Callable[[str, Trained], dict[str, float]]
"""Takes the measurement of that name."""


def nothing_to_measure_with(name: str, trained: Trained) -> dict[str, float]:
    """For runs that record no measurements."""
    raise ValueError(f"measurements is {name}; this training was given nothing to measure with.")
