"""The recorded demonstration run, which the start page plays before any training."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import engine
from engine.analysis.working_head import WorkingHead, load
from engine.runs.events import Sample, Snapshot
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from pages.parts.boards.live.feed import Payload, feed

RECORDED = Path(engine.__file__).parent / "runs" / "recorded" / "reverse"


@cache
def recorded_run() -> Run:
    return Run.from_disk(RunFolder(RECORDED))


@cache
def recorded_feed() -> Payload:
    """The whole run as one message for the board; made once, since every visitor's first page shows it."""
    return feed(recorded_run(), 0)[0]


@cache
def recorded_head() -> WorkingHead:
    """The head that does the work at the run's end, found when it was recorded."""
    return load(RECORDED)


def recorded_example() -> Sample:
    """The first sequence that the run is watched on, with the answers of the untrained model."""
    return recorded_run().events.of(Snapshot)[0].samples[0]
