from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from engine.analysis.measurements import MEASUREMENTS

if TYPE_CHECKING:  # a worker passes this function on before it imports torch
    from engine.training.result import Measure, Trained


def take_measurement(name: str, trained: Trained) -> dict[str, float]:
    """Raises ValueError if the measurement is not in the registry."""
    if name not in MEASUREMENTS:
        raise ValueError(f"measurements is {name}; it must be one of {', '.join(MEASUREMENTS)}.")
    measure: Measure = resolve_name(MEASUREMENTS[name].implementation)
    return measure(trained)
