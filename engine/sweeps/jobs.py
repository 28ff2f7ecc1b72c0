"""The jobs of a sweep: one visit, the machine's facts."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.foundation.job import Job
from engine.sweeps.visit import Machine, Visit


@dataclass(frozen=True)
class DescribeMachine(Job[Machine]):
    function = "engine.sweeps.measure:machine"
    noun = "Reading the facts about the machine"
    anywhere = True
    device: str


@dataclass(frozen=True)
class MeasurePoint(Job[Visit]):
    function = "engine.sweeps.measure:visit"
    noun = "Measuring one point"
    anywhere = True
    config: RunConfig
    length: int
    kind: str
    place: int
    round: int
    device: str
    count_bytes: bool
