from engine.estimate.speed import Speeds
from engine.foundation.job import Job


class MeasureSpeed(Job[Speeds], function=".speed:measure_speed", noun="Measuring the speed of this machine"):
    pass
