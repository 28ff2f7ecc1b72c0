"""``train(config)``: a generator of events, independent of screen, threads and files."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from torch import nn

from engine.config.run_config import RunConfig
from engine.estimate.prediction import Prediction
from engine.runs.events import Event, Failed
from engine.runs.record_options import DEFAULT_RECORD, RecordOptions
from engine.training.loop import prepare, steps_of
from engine.training.remedy import find_remedy
from engine.training.trained import MeasureByName, nothing_to_measure_with

__all__ = ["prepare", "train"]


def train(
    config: RunConfig,
    model: nn.Module | None = None,
    record: RecordOptions = DEFAULT_RECORD,
    prediction: Prediction | None = None,
    measure: MeasureByName = nothing_to_measure_with,
) -> Generator[Event, str | None, None]:
    """Train and yield events: Started, a Progress for each step with Snapshots in between, then Finished or Failed.

    Before Finished come Measuring events, at which a caller may pause. ``send(SNAPSHOT_NOW)`` returns a Snapshot of
    the current model; ``next`` then continues.

    The training path depends on the config alone: the same config gives the same numbers on the same device, whatever
    ``record`` asks to record. Without ``model``, the config's untrained one is prepared. ``prediction`` is the config's
    prediction where the caller has it already. ``measure`` takes the measurements that ``record`` names, at the end. A
    Failed event gives the reason and, where one was found, the setting that would have prevented it.
    """
    run, request = steps_of(config, model, record, prediction, measure), None
    while True:
        try:
            event = run.send(request)
        except StopIteration:
            return
        if isinstance(event, Failed) and record.remedy:
            remedy = find_remedy(config, event.step)
            event = replace(event, reason=f"{event.reason} {remedy.sentence}".strip(), remedy=remedy.setting)
        request = yield event
