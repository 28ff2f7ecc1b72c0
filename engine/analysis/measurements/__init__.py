"""The registry of measurements: numbers of a trained model. Only workers import the implementations, which need torch.

A new one is a function ``<name>(trained) -> dict[str, float]`` in the file of its kind here, which documents its numbers and its
source, and one row of the table.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from engine.config.run_config import RunConfig
from engine.estimate.layout import TESTED
from engine.estimate.peak import Work, measuring_bytes
from engine.estimate.prediction import Prediction


class Measurement(NamedTuple):
    implementation: str  # ``module:function``, an :data:`engine.training.result.Measure`
    work: Work  # upper bounds, for the predicted peak of a run with it


MEASUREMENTS: dict[str, Measurement] = {
    name: Measurement(f"engine.analysis.measurements.{module}:{name}", work)
    for module, name, work in (
        ("positions", "position_probe", Work(256, written_out=True, streams=lambda n_layers: n_layers // 2 + 1)),
        ("positions", "neighbour_cosine", Work(1, length=512, written_out=True)),
        ("positions", "table_structure", Work(1)),
        ("held_out", "decorrelated", Work(512)),
        ("held_out", "shuffle_meters", Work(256)),
        ("held_out", "accuracy_by_position", Work(512)),
        ("held_out", "other_text", Work(256, data=True)),
        ("depth", "token_collapse", Work(64, written_out=True, keeps_records=True, streams=lambda _: 5, models=1)),
        ("depth", "first_gradients", Work(gradient=True, models=1, data=True)),
        ("depth", "dense_difference",
         Work(32, written_out=True, keeps_records=True, streams=lambda n_layers: n_layers * (n_layers + 3), models=1)),
        ("pointing", "pointing", Work(64, gradient=True, written_out=True, keeps_records=True)),
        ("spreading", "answer_weight", Work(TESTED, tested=True, written_out=True, keeps_records=True)),
        ("head_pruning", "head_pruning", Work(256, gradient=True)),
        ("scores", "attention_scores", Work(64, written_out=True, keeps_records=True)),
        ("sinks", "attention_sinks", Work(64, written_out=True, keeps_records=True)),
    )
}  # fmt: skip


def with_measurements(prediction: Prediction, config: RunConfig, names: Iterable[str]) -> Prediction:
    # other names are refused when they are measured
    works = [MEASUREMENTS[name].work for name in names if name in MEASUREMENTS]
    peaks = [measuring_bytes(config, prediction.memory, work) for work in works]
    return replace(prediction, peak=max([prediction.peak, *peaks]))
