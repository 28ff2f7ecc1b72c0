"""The job that times this machine. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass

from engine.estimate.prediction import Speed
from engine.foundation.job import Job


@dataclass(frozen=True)
class MeasureSpeed(Job[Speed]):
    function = "engine.training.speed:measure_speed"
