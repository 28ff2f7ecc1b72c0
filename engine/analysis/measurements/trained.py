"""What a measurement is given: a trained model with the data it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn

from engine.config.run_config import RunConfig

if TYPE_CHECKING:
    from engine.training.data import Data


@dataclass(frozen=True)
class Trained:
    config: RunConfig
    model: nn.Module
    data: Data
    device: torch.device


Measure = Callable[[Trained], dict[str, float]]
"""A measurement: numbers by name. It leaves weights, mode and the model's random state as they were."""
