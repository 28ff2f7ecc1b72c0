from engine.config.run_config import RunConfig
from engine.foundation.job import Job
from engine.settings.costs import Cost, MachineFacts

MEASURING = "engine.analysis.measurements.cost"


class DescribeMachine(
    Job[MachineFacts], function=f"{MEASURING}:machine", noun="Reading the facts about the machine", anywhere=True
):
    device: str


class MeasureCost(Job[Cost], function=f"{MEASURING}:measure_at", noun="Measuring one point", anywhere=True):
    config: RunConfig
    length: int
    device: str
    memory: bool
