from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.runs.log import EventLog


@dataclass(frozen=True)
class Untrained:
    """The untrained model of a config in the form of a run, with that run's first events."""

    config: RunConfig
    events: EventLog
    id = machine = setback = ""
    state = "none"
    step = 0
    live = False
    queue_position = queue_seconds = progress = weights = ending = None

    def watched(self, _: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()
