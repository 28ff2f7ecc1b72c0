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
        "position_probe",
        "Position probe",
        "How well a linear map reads a token's position off the residual stream, layer by layer; layer 0 is the embedding.",
        "Alain and Bengio 2016, Understanding Intermediate Layers Using Linear Classifier Probes",
        "engine.measurements.position_probe:measure",
    ),
    MeasurementRow(
        "neighbour_cosine",
        "Neighbours' cosine",
        "How alike neighbouring positions look at several sequence lengths, as they are and squeezed into a fixed range.",
        "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
        "engine.measurements.neighbour_cosine:measure",
    ),
)

MEASUREMENTS: dict[str, MeasurementRow] = {row.name: row for row in ROWS}
