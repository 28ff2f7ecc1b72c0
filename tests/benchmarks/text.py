"""When the text page's run passes counting models: ``python -m tests.benchmarks.text [SETTING=VALUE ...]``.

The page's own config on one worker with one thread, through the pool as from the page. Prints for each counting model the
step and the seconds since Train was pressed, reading the text and every look included, at which the held-out loss was first
below it, and the load of the machine: it wants to be alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from engine.analysis.text.jobs import CountWords
from engine.config.text_recipe import text_config
from engine.foundation.files import DATA_VARIABLE
from engine.runs.events import Progress
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.runs.summary import passed
from engine.workers.pool import Pool


def main() -> None:
    config = text_config(device="cpu", **dict(pair.split("=", 1) for pair in sys.argv[1:]))
    with tempfile.TemporaryDirectory() as folder, Pool(Runs(Path(folder) / "runs"), size=1) as pool:
        os.environ[DATA_VARIABLE] = folder
        pool.wait_until_ready(60)
        load, began = os.getloadavg()[0], time.monotonic()
        run = pool.submit(RunRequest(config))
        levels = pool.ask(CountWords(config), timeout=180.0)["levels"]
        seconds: dict[int | None, float] = {}
        seen = 0
        while run.live or seen < len(run.events):
            run.wait_for(seen + 1, 1.0)
            for event in run.events_since(seen):
                seen += 1
                if isinstance(event, Progress) and event.validation is not None:
                    seconds[event.step] = time.monotonic() - began
    print(f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    for row in passed(config, run.events, levels):
        when = "not passed" if row.step is None else f"step {row.step}, {seconds[row.step]:.1f} s"
        print(f"{row.name:8} {levels[row.name]:.3f} nats: {when}")
    print(f"at the end, step {run.step}, {max(seconds.values()):.1f} s: {row.last:.3f} nats")


if __name__ == "__main__":
    main()
