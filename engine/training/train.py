"""train(config): a plain generator of events. It knows no screen, no thread, no file."""

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
    """Train, yielding Started, then Progress after every step with a Snapshot now and then, then Finished or Failed.

    Before Finished come Measuring events, at which a caller may pause. ``send(SNAPSHOT_NOW)`` answers with a Snapshot of
    the present; afterwards ``next`` goes on.

    The training path depends on the config alone: the same config gives the same numbers on the same device, whatever
    ``record`` says is recorded besides. Without ``model`` the config's own untrained one is prepared; ``prediction`` is
    the config's, where it is known already. ``measure`` takes the measurements that ``record`` names, at the end. A
    Failed event says what went wrong and, where one was found, the setting that would have prevented it.
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
