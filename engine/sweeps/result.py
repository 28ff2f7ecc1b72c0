"""The result of a sweep so far as plain data: its plan, the machine, the visits, the fits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from engine.foundation.provenance import Provenance
from engine.sweeps.fit import Fit
from engine.sweeps.jobs import Machine, Visit
from engine.sweeps.plan import Plan

QUANTITIES = {
    "train": "time of a training step",
    "inference": "time of a pass without gradient",
    "cached": "time of the next token with the past kept",
    "saved": "bytes saved for backward",
}
"""The quantities that are followed along the axis and fitted; times in seconds."""


@dataclass(frozen=True)
class Skip:
    """A point that was not started; further points of its kind are not started either."""

    kind: str
    place: int
    why: str


@dataclass(frozen=True)
class Summary:
    """A quantity at one length or depth: the median of its visits and their range."""

    place: int
    value: float
    low: float
    high: float
    visits: int


@dataclass(frozen=True)
class Result:
    plan: Plan
    machine: Machine | None
    visits: tuple[Visit, ...]
    skips: tuple[Skip, ...]
    fits: Mapping[str, Fit]
    """The fits by :func:`line_name`."""
    state: str
    """``running``, ``finished``, ``stopped`` or ``failed``."""
    seconds: float
    created: float
    """The time of creation in seconds since 1970."""
    provenance: Provenance = field(default_factory=Provenance)
    """Empty where it was not noted."""

    def summaries(self, kind: str, quantity: str) -> list[Summary]:
        """The quantity along the axis; empty where it was not measured for that kind."""
        found: dict[int, list[float]] = {}
        for visit in self.visits:
            value: float | None = getattr(visit, quantity)
            if visit.kind == kind and value is not None:
                found.setdefault(visit.place, []).append(value)
        return [
            Summary(place, median(values), min(values), max(values), len(values))
            for place, values in sorted(found.items())
        ]

    def fit(self, kind: str, quantity: str) -> Fit | None:
        return self.fits.get(line_name(kind, quantity))

    def counted(self, kind: str) -> list[Visit]:
        """The visits of a kind whose memory was counted, along the axis."""
        return sorted((v for v in self.visits if v.kind == kind and v.memory), key=lambda visit: visit.place)

    @property
    def lines(self) -> dict[str, list[tuple[float, float]]]:
        """The lines to fit: by name, the lengths or depths and the medians."""
        return {
            line_name(kind, quantity): [(float(at.place), at.value) for at in self.summaries(kind, quantity)]
            for kind in self.plan.kinds
            for quantity in QUANTITIES
        }


def line_name(kind: str, quantity: str) -> str:
    return f"{kind}.{quantity}"
