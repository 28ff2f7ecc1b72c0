"""The untrained model of the present settings, shown on the live board as a run is that has not begun."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.runs.log import EventLog


@dataclass(frozen=True)
class Untrained:
    """The first events of a config's run, in the form of a run."""

    config: RunConfig
    events: EventLog
    id = machine = setback = ""
    state = "none"
    step = 0
    live = False
    queue_position = queue_seconds = progress = weights = ending = None

    def watched(self, _: Callable[[], None]) -> AbstractContextManager[None]:
        """As a run is watched; here nothing changes."""
        return nullcontext()
