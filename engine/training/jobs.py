"""The job that measures the training speed of this machine."""

from __future__ import annotations

from dataclasses import dataclass

from engine.estimate.speed import Speed
from engine.foundation.job import Job


@dataclass(frozen=True)
class MeasureSpeed(Job[Speed]):
    function = "engine.training.speed:measure_speed"
    noun = "Measuring the speed of this machine"
