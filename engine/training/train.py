"""train(config): a plain generator of events. It knows no screen, no thread, no file."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from torch import nn

from engine.config.run_config import RunConfig
from engine.runs.events import Event, Failed
from engine.runs.record_options import EVERYTHING, Watch
from engine.training.loop import LOOK, prepare, steps_of
from engine.training.remedy import find_remedy

__all__ = ["LOOK", "prepare", "train"]


def train(
    config: RunConfig, model: nn.Module | None = None, watch: Watch = EVERYTHING
) -> Generator[Event, str | None, None]:
    """Train, yielding Started, then Progress after every step with a Snapshot now and then, then Finished or Failed.

    Before Finished come Measuring events, at which a caller may pause.

    ``send(LOOK)`` answers with a Snapshot of the present; afterwards ``next`` goes on. What is looked at changes no
    number: the training path depends on the config alone. The same config gives the same numbers on the same device.
    ``watch`` says what is looked at besides. Without ``model`` the config's own untrained one is prepared. A Failed
    event names what went wrong and, where one was found, the setting that would have prevented it; nobody looks for one
    where nobody watches.
    """
    run, request = steps_of(config, model, watch), None
    while True:
        try:
            event = run.send(request)
        except StopIteration:
            return
        if isinstance(event, Failed) and watch.snapshots:
            remedy = find_remedy(config, event.step)
            event = replace(event, reason=f"{event.reason} {remedy.sentence}".strip(), remedy=remedy.setting)
        request = yield event
