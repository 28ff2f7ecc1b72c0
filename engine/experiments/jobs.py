"""The job that collects evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from engine.foundation.job import Job

State = Literal["supported", "against", "open", "not learned", "no row", "not measured"]
Origin = Literal["this machine", "this version"]


class Cell(TypedDict):
    """The evidence on one encoding for one property."""

    quality: str
    state: State
    value: float | None
    """The mean over the seeds on the scale from 0 to 1."""
    ci: tuple[float, float] | None
    """Student's 95 % interval of the value."""
    seeds: int
    number: float | None
    """The mean of the raw number, and of the number that it must keep."""
    number_before: float | None
    chance: float
    arm: str
    """The arm's name; empty where no experiment has an arm with this encoding."""
    origin: Origin | None
    query: dict[str, str]
    """The query of the cell's link: to the experiment or, without an arm, to the lab with these settings."""


class Evidence(TypedDict):
    encoding: str
    cells: list[Cell]
    """One cell for each property."""


@dataclass(frozen=True)
class CollectEvidence(Job[list[Evidence]]):
    function = "engine.experiments.choice:evidence_table"
    noun = "Collecting the evidence"
