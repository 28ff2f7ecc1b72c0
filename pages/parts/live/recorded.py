"""The run that came with the app: it is there before anything trains."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import engine
from engine.run_folder import RunFolder
from engine.runs import Run

RECORDED = Path(engine.__file__).parent / "recorded" / "reverse"


@cache
def recorded_run() -> Run:
    return Run.from_disk(RunFolder(RECORDED))
