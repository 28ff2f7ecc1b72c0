"""What a caller asks for when it submits a run."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config.run_config import RunConfig
from engine.runs.record_options import DEFAULT_RECORD, RecordOptions


@dataclass(frozen=True)
class RunRequest:
    """A run as it was asked for. It travels unchanged from the caller through the pool into the worker."""

    config: RunConfig
    session: str = ""
    """The owner; empty where nobody owns the run."""
    pace: float | None = None
    """Steps a second at the start; None is full speed."""
    paused: bool = False
    """Whether the run waits at step 0, with its first weights shown."""
    alone: bool = False
    """Whether the other runs of its worker are held while this one goes, so that its time can be measured."""
    record: RecordOptions = DEFAULT_RECORD
