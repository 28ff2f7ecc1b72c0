"""The request of a caller that submits a run."""

from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.foundation.visitor import PROGRAM, Visitor
from engine.runs.record_options import DEFAULT_RECORD, RecordOptions


@dataclass(frozen=True)
class RunRequest:
    """A requested run. The request travels unchanged from the caller through the pool into the worker."""

    config: RunConfig
    visitor: Visitor = PROGRAM
    """The owner."""
    trial: bool = False
    """Whether the run is a trial of an experiment: it waits behind the runs that somebody looks at, and it is counted with its
    experiment."""
    pace: float | None = None
    """Steps per second at the start; None is full speed."""
    paused: bool = False
    """Whether the run waits at step 0, with its first weights shown."""
    record: RecordOptions = DEFAULT_RECORD
    accelerator: bool | None = None
    """Whether the run uses an accelerator where there is one. It is decided once, when the run is submitted, and holds for its whole life;
    None before that."""

    @property
    def is_saved(self) -> bool:
        """Whether the run's state is saved, so that it can go on without its worker. A trial is trained again by its
        experiment."""
        return not self.trial
