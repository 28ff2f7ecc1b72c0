"""Scripted runs that advance in the server process, as the pool's runs do."""

import threading
import time
from typing import Any

from engine.config.run_config import parse
from tests.scripted import ScriptedRun

RUNS: dict[str, ScriptedRun] = {}
RATES: dict[str, float] = {}  # steps per second
# so many of the latest runs advance; nobody looks at older ones any more, and they would slow the machine down
LOOKED_AT = 3


def begin(run_id: str, rate: float, **settings: Any) -> ScriptedRun:
    """A run of that id at so many steps per second; rate 0 stays queued. A later call with a higher rate speeds it up."""
    if run_id not in RUNS:
        RUNS[run_id] = ScriptedRun(config=parse(settings), id=run_id, queue_position=3 if rate == 0 else None)
    run, before = RUNS[run_id], RATES.get(run_id, 0.0)
    RATES[run_id] = max(rate, before)
    if rate and not before:
        threading.Thread(target=_train, args=(run,), daemon=True).start()
    return run


def _train(run: ScriptedRun) -> None:
    phase = 0.02
    began, stop_at = time.monotonic(), run.config.steps
    run.queue_position = None
    run.start()
    while run.step < stop_at and run.id in list(RUNS)[-LOOKED_AT:]:
        time.sleep(phase)
        due = int((time.monotonic() - began) * RATES[run.id]) - run.step
        if due > 0:
            run.advance(due)
