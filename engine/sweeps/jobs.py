"""The jobs of a sweep: one visit, the machine's facts."""

from __future__ import annotations

from engine.config.run_config import RunConfig
from engine.foundation.job import Job
from engine.sweeps.visit import Machine, Visit


class DescribeMachine(
    Job[Machine], function=".measure:machine", noun="Reading the facts about the machine", anywhere=True
):
    device: str


class MeasurePoint(Job[Visit], function=".measure:visit", noun="Measuring one point", anywhere=True):
    config: RunConfig
    length: int
    kind: str
    place: int
    round: int
    device: str
    count_bytes: bool
