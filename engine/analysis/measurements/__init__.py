"""The registry of measurements: numbers taken from a trained model. Only workers import the implementations, which need torch.

To add one: write ``engine/analysis/measurements/<name>.py`` with ``measure(trained) -> dict[str, float]``, and add one row here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.config.run_config import RunConfig
from engine.estimate.peak import Work, measuring_bytes
from engine.estimate.prediction import Prediction


@dataclass(frozen=True)
class MeasurementRow:
    """One measurement: its name, the meaning of its numbers, and its source."""

    name: str
    label: str
    summary: str
    source: str
    implementation: str
    """``module:function``, an :data:`engine.training.trained.Measure`."""
    work: Work
    """What it holds at most, for the predicted peak of a run that takes it."""


ROWS: tuple[MeasurementRow, ...] = (
    MeasurementRow(
        "position_probe",
        "Position probe",
        "How well a linear map reads a token's position off the residual stream, layer by layer; layer 0 is the embedding.",
        "Alain and Bengio 2016, Understanding Intermediate Layers Using Linear Classifier Probes",
        "engine.analysis.measurements.position_probe:measure",
        Work(256, written_out=True, streams=lambda n_layers: n_layers // 2 + 1),
    ),
    MeasurementRow(
        "neighbour_cosine",
        "Neighbours' cosine",
        "How alike neighbouring positions look at several sequence lengths, as they are and squeezed into a fixed range.",
        "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
        "engine.analysis.measurements.neighbour_cosine:measure",
        Work(1, length=512, written_out=True),
    ),
    MeasurementRow(
        "decorrelated",
        "Without the correlation",
        "Held-out loss and accuracy on sequences that lack the correlation of training: decorrelated_accuracy.",
        "Geirhos et al. 2020, Shortcut Learning in Deep Neural Networks",
        "engine.analysis.measurements.decorrelated:measure",
        Work(512),
    ),
    MeasurementRow(
        "shuffle_meters",
        "Content or position",
        "Share of predictions that stay when the content is drawn anew, and when the positions are shuffled.",
        "Sinha et al. 2022, The Curious Case of Absolute Position Embeddings (there shifted, here shuffled)",
        "engine.analysis.measurements.shuffle_meters:measure",
        Work(256),
    ),
    MeasurementRow(
        "accuracy_by_position",
        "Accuracy by exposure",
        "Accuracy at full length, pooled over positions that were met in training about equally often.",
        "Ours: the count follows from the law of lengths",
        "engine.analysis.measurements.accuracy_by_position:measure",
        Work(512),
    ),
    MeasurementRow(
        "table_structure",
        "Structure of the learned table",
        "Correlation of the cosine of two rows with minus their distance: 1 is a smooth line, 0 no order.",
        "Wang and Chen 2020, What Do Position Embeddings Learn?",
        "engine.analysis.measurements.table_structure:measure",
        Work(1),
    ),
    MeasurementRow(
        "token_collapse",
        "Collapse of the tokens",
        "Per block, the mean cosine of two tokens of a sequence, and what is left of them without what all share.",
        "Dong et al. 2021, Attention Is Not All You Need, section 2",
        "engine.analysis.measurements.token_collapse:measure",
        Work(64, written_out=True, kept=True, streams=lambda _: 5, models=1),
    ),
    MeasurementRow(
        "first_gradients",
        "First gradients",
        "Gradient norms by part before the first step, queries and keys apart from values.",
        "Noci et al. 2022, Signal Propagation in Transformers, section 3",
        "engine.analysis.measurements.first_gradients:measure",
        Work(gradient=True, models=1, data=True),
    ),
    MeasurementRow(
        "dense_difference",
        "Difference of the dense layers",
        "How differently the blocks' MLPs answer the same input: 0 the same function, 1 nothing in common.",
        "Ours; sharing as in Lan et al. 2020, ALBERT, section 3.1",
        "engine.analysis.measurements.dense_difference:measure",
        Work(32, written_out=True, kept=True, streams=lambda n_layers: n_layers * (n_layers + 3), models=1),
    ),
    MeasurementRow(
        "saved_bytes",
        "Saved for backward",
        "Bytes that one training step keeps for its backward pass, counted by hooks, beside the formula's.",
        "",
        "engine.analysis.measurements.saved_bytes:measure",
        Work(gradient=True),
    ),
    MeasurementRow(
        "step_time",
        "Time of a step",
        "Milliseconds of a training step and of a pass without gradient: the shortest of several.",
        "",
        "engine.analysis.measurements.step_time:measure",
        Work(gradient=True, models=1),
    ),
    MeasurementRow(
        "training_state",
        "Weights, gradients, optimizer",
        "Parameters by part, and the bytes of weights, gradients and optimizer state.",
        "",
        "engine.analysis.measurements.training_state:measure",
        Work(2, gradient=True, models=1),
    ),
    MeasurementRow(
        "kv_cache",
        "Key-value cache",
        "Bytes of a decoder's keys and values, and the time of the next token with and without them.",
        "Shazeer 2019, Fast Transformer Decoding, section 2.4",
        "engine.analysis.measurements.kv_cache:measure",
        Work(1, models=1),
    ),
    MeasurementRow(
        "pointing",
        "Pointing",
        "How often the top token of an explanation is the one that the answer truly came from.",
        "Abnar and Zuidema 2020; Shrikumar et al. 2016; Simonyan et al. 2014; Li et al. 2016",
        "engine.analysis.measurements.pointing:measure",
        Work(256, gradient=True, written_out=True, kept=True),
    ),
    MeasurementRow(
        "head_pruning",
        "Head pruning",
        "How many heads can go without loss, by gradient importance and in random order.",
        "Michel et al. 2019",
        "engine.analysis.measurements.head_pruning:measure",
        Work(256, gradient=True),
    ),
    MeasurementRow(
        "other_text",
        "Other text",
        "Loss on text that was truly held out, and by how much the run's own validation flatters.",
        "Kaufman et al. 2012, Leakage in Data Mining",
        "engine.analysis.measurements.other_text:measure",
        Work(256, data=True),
    ),
)

MEASUREMENTS: dict[str, MeasurementRow] = {row.name: row for row in ROWS}


def with_measurements(prediction: Prediction, config: RunConfig, names: Iterable[str]) -> Prediction:
    """The prediction of a run that takes these measurements at its end: its peak is that of whatever holds most."""
    works = [
        MEASUREMENTS[name].work for name in names if name in MEASUREMENTS
    ]  # others are refused where they are taken
    peaks = [measuring_bytes(config, prediction.memory, work) for work in works]
    return replace(prediction, peak=max([prediction.peak, *peaks]))
