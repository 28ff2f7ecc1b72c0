from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log
from statistics import median
from typing import Annotated

from pydantic import Field

from engine.experiments.sweeps.plan import Plan
from engine.foundation.provenance import Provenance
from engine.settings.costs import Cost, MachineFacts

Tick = Annotated[int, Field(alias="place")]  # stored files, also those of earlier versions, have its earlier name
STEEPEST = 2.5  # the highest power with which any cost here grows


@dataclass(frozen=True)
class Visit(Cost):
    """One measurement of one point. Memory is measured in the first round only, since it is the same in all."""

    kind: str
    tick: Tick
    """The length in tokens or the number of layers, depending on the plan's axis."""
    round: int
    took: float = 0.0
    """Seconds of the whole visit."""

    @property
    def saved(self) -> int | None:
        """The bytes that a training step saves for backward; None if memory was not measured."""
        return None if self.memory is None else self.memory.saved


@dataclass(frozen=True)
class Skip:
    """A point that was not started; further points of its kind are not started either."""

    kind: str
    tick: Tick
    why: str


@dataclass(frozen=True)
class Summary:
    """A quantity at one length or depth: the median of its visits and their range."""

    tick: int
    value: float
    low: float
    high: float
    visits: int


@dataclass(frozen=True)
class Result:
    plan: Plan
    machine: MachineFacts | None
    visits: tuple[Visit, ...]
    skips: tuple[Skip, ...]
    state: str
    """``running``, ``finished``, ``stopped`` or ``failed``."""
    seconds: float
    created: float
    """Seconds since 1970."""
    provenance: Provenance = field(default_factory=Provenance)

    def summaries(self, kind: str, quantity: str) -> list[Summary]:
        """A quantity (``train``, ``inference``, ``cached``, ``saved``) along the axis; empty if it was not measured for that kind."""
        by_tick: dict[int, list[float]] = {}
        for visit in self.visits:
            value: float | None = getattr(visit, quantity)
            if visit.kind == kind and value is not None:
                by_tick.setdefault(visit.tick, []).append(value)
        return [
            Summary(tick, median(values), min(values), max(values), len(values))
            for tick, values in sorted(by_tick.items())
        ]

    def counted_visits(self, kind: str) -> list[Visit]:
        return sorted((v for v in self.visits if v.kind == kind and v.memory), key=lambda visit: visit.tick)


def onward(points: Sequence[tuple[int, float]], tick: int) -> float:
    """The value at a further x, by the power law through the last two points; with only one point, by the square."""
    (last, value), slope = points[-1], 2.0
    if len(points) > 1 and points[-2][1] > 0 < value:
        earlier, small = points[-2]
        slope = log(value / small) / log(last / earlier)
    return value * float((tick / last) ** min(STEEPEST, max(0.0, slope)))
