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


ROWS: tuple[MeasurementRow, ...] = (
    MeasurementRow(
        "pointing",
        "Pointing",
        "How often the top token of an explanation is the one that the answer truly came from.",
        "Abnar and Zuidema 2020; Shrikumar et al. 2016; Simonyan et al. 2014; Li et al. 2016",
        "engine.measurements.pointing:measure",
    ),
    MeasurementRow(
        "head_pruning",
        "Head pruning",
        "How many heads can go without loss, by gradient importance and in random order.",
        "Michel et al. 2019",
        "engine.measurements.head_pruning:measure",
    ),
    MeasurementRow(
        "other_text",
        "Other text",
        "Loss on text that was truly held out, and by how much the run's own validation flatters.",
        "Kaufman et al. 2012, Leakage in Data Mining",
        "engine.measurements.other_text:measure",
    ),
)

MEASUREMENTS: dict[str, MeasurementRow] = {row.name: row for row in ROWS}
