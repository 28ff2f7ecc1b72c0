"""The registry of measurements: numbers taken from a trained model. Torch-free; workers import the implementations.

To add one: write ``engine/measurements/<name>.py`` with ``measure(trained) -> dict[str, float]``, and add one row here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MeasurementRow:
    """One measurement: what it is called, what its numbers mean, and where it was published."""

    name: str
    label: str
    summary: str
    source: str
    implementation: str
    """``module:function``, an :data:`engine.measurements.trained.Measure`."""


ROWS: tuple[MeasurementRow, ...] = ()

MEASUREMENTS: dict[str, MeasurementRow] = {row.name: row for row in ROWS}
