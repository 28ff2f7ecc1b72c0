"""The recorded demonstration run, which the start page plays before any training."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import engine
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
