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
        "saved_bytes",
        "Saved for backward",
        "Bytes that one training step keeps for its backward pass, counted by hooks, beside the formula's.",
        "",
        "engine.measurements.saved_bytes:measure",
    ),
    MeasurementRow(
        "step_time",
        "Time of a step",
        "Milliseconds of a training step and of a pass without gradient: the shortest of several.",
        "",
        "engine.measurements.step_time:measure",
    ),
    MeasurementRow(
        "training_state",
        "Weights, gradients, optimizer",
        "Parameters by part, and the bytes of weights, gradients and optimizer state.",
        "",
        "engine.measurements.training_state:measure",
    ),
    MeasurementRow(
        "kv_cache",
        "Key-value cache",
        "Bytes of a decoder's keys and values, and the time of the next token with and without them.",
        "Shazeer 2019, Fast Transformer Decoding, section 2.4",
        "engine.measurements.kv_cache:measure",
    ),
)

MEASUREMENTS: dict[str, MeasurementRow] = {row.name: row for row in ROWS}
