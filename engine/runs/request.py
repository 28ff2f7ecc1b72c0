from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.record_options import DEFAULT_RECORD, RecordOptions


@dataclass(frozen=True)
class RunRequest:
    config: RunConfig
    visitor: Visitor = PROGRAM
    # of an experiment: it waits behind the runs that somebody looks at, and counts with its experiment
    trial: bool = False
    pace: float | None = None  # steps per second at the start; None is full speed
    paused: bool = False  # the run waits at step 0, with its initial weights shown
    record: RecordOptions = DEFAULT_RECORD
    accelerator: bool | None = None
    """True if the run uses an accelerator, if there is one. Decided once, when the run is submitted; None before that."""

    @property
    def is_saved(self) -> bool:
        # a trial is trained again by its experiment
        return not self.trial
