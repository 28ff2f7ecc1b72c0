"""Taking the measurements that a run was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name

from engine.analysis.measurements import MEASUREMENTS
from engine.analysis.measurements.trained import Measure, Trained


def take_measurements(names: Sequence[str], trained: Trained) -> dict[str, float]:
    """Every number by name. Raises ValueError where a name is not in the registry."""
    numbers: dict[str, float] = {}
    for name in names:
        if name not in MEASUREMENTS:
            raise ValueError(f"measurements is {name}; allowed is one of {', '.join(MEASUREMENTS)}.")
        measure: Measure = resolve_name(MEASUREMENTS[name].implementation)
        numbers |= measure(trained)
    return numbers
