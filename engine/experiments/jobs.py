"""The jobs about evidence. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from engine.experiments.statistics import Question, Weighed
from engine.foundation.job import Job

State = Literal["supported", "against", "open", "not learned", "no row", "not measured"]
Origin = Literal["this machine", "this version"]


class Cell(TypedDict):
    """One encoding's evidence on one quality."""

    quality: str
    state: State
    value: float | None
    """Mean over the seeds on the scale from 0 to 1."""
    ci: tuple[float, float] | None
    """95 %, Student's."""
    seeds: int
    number: float | None
    """The mean of the raw number, and of the one that had to be there first."""
    number_before: float | None
    chance: float
    arm: str
    """Empty where no experiment has an arm with this encoding."""
    origin: Origin | None
    query: dict[str, str]
    """Of the link behind it: to the experiment, or, without an arm, to the lab with these settings."""


class Evidence(TypedDict):
    encoding: str
    cells: list[Cell]
    """One a quality."""


@dataclass(frozen=True)
class CollectEvidence(Job[list[Evidence]]):
    function = "engine.experiments.choice:evidence_table"


@dataclass(frozen=True)
class WeighQuestions(Job[list[Weighed]]):
    function = "engine.experiments.statistics:weigh_all"
    questions: tuple[Question, ...]
