"""Scripted runs that advance in the server process, as the pool's runs do."""

from __future__ import annotations

import threading
import time
from typing import Any

from engine.config import parse
from tests.scripted import ScriptedRun

RUNS: dict[str, ScriptedRun] = {}
LOOKED_AT = 3
"""So many of the latest runs go on; nobody looks at older ones any more, and they would slow the machine down."""


def begin(run_id: str, rate: float, **settings: Any) -> ScriptedRun:
    """A run of that id, begun once, at so many steps a second; rate 0 stays queued."""
    if run_id in RUNS:
        return RUNS[run_id]
    run = RUNS[run_id] = ScriptedRun(config=parse(settings), id=run_id, queue_place=3 if rate == 0 else None)
    if rate:
        threading.Thread(target=_train, args=(run, rate), daemon=True).start()
    return run


def _train(run: ScriptedRun, rate: float) -> None:
    beat = 0.02
    began, stop_at = time.monotonic(), run.config.steps
    run.start()
    while run.step < stop_at and run.id in list(RUNS)[-LOOKED_AT:]:
        time.sleep(beat)
        due = int((time.monotonic() - began) * rate) - run.step
        if due > 0:
            run.advance(due)
