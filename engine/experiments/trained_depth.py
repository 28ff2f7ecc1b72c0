"""The effect of training on the two arms of a question about depth: their numbers by depth, before training and after it, stored."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.analysis.depth.jobs import DepthNumbers, from_json
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import stored_rows
from engine.experiments.experiment import Experiment

FILE = "depth.json"
SEEDS = range(1000, 1004)


@dataclass(frozen=True)
class TrainedDepth:
    arm: str
    untrained: tuple[DepthNumbers, ...]
    trained: tuple[DepthNumbers, ...]


def read_trained_depth(experiment: Experiment, folder: Path = FOLDER) -> list[TrainedDepth]:
    """The stored numbers of the arms whose settings have not changed; empty for an issue without any."""
    arms = {arm.name: arm for arm in experiment.arms}
    return [
        TrainedDepth(name, *(tuple(map(from_json, row[when])) for when in ("untrained", "trained")))
        for name, row in rows(folder).get(experiment.slug, {}).items()
        if name in arms and row["fingerprint"] == experiment.fingerprint(arms[name])
    ]


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    """By issue and arm."""
    return stored_rows(folder / FILE)
