"""The recorded demonstration run: what the start page plays before anything has trained."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import engine
from engine.runs.folder import RunFolder
from engine.runs.store import Run
from pages.parts.boards.live.feed import Payload, feed

RECORDED = Path(engine.__file__).parent / "runs" / "recorded" / "reverse"


@cache
def recorded_run() -> Run:
    return Run.from_disk(RunFolder(RECORDED))


@cache
def recorded_feed() -> Payload:
    """All of it as one message for the board; made once, since every visitor's first page shows it."""
    return feed(recorded_run(), 0)[0]
