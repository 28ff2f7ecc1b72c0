"""The job that measures the training speed of this machine."""

from __future__ import annotations

from engine.estimate.speed import Speed
from engine.foundation.job import Job


class MeasureSpeed(Job[Speed], function=".speed:measure_speed", noun="Measuring the speed of this machine"):
    pass
