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
        "token_collapse",
        "Collapse of the tokens",
        "Per block, the mean cosine of two tokens of a sequence, and what is left of them without what all share.",
        "Dong et al. 2021, Attention Is Not All You Need, section 2",
        "engine.measurements.token_collapse:measure",
    ),
    MeasurementRow(
        "first_gradients",
        "First gradients",
        "Gradient norms by part before the first step, queries and keys apart from values.",
        "Noci et al. 2022, Signal Propagation in Transformers, section 3",
        "engine.measurements.first_gradients:measure",
    ),
    MeasurementRow(
        "dense_difference",
        "Difference of the dense layers",
        "How differently the blocks' MLPs answer the same input: 0 the same function, 1 nothing in common.",
        "Ours; sharing as in Lan et al. 2020, ALBERT, section 3.1",
        "engine.measurements.dense_difference:measure",
    ),
)

MEASUREMENTS: dict[str, MeasurementRow] = {row.name: row for row in ROWS}
