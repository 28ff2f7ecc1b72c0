"""When the text page's run passes counting models: ``python -m tests.benchmarks.text [--json] [SETTING=VALUE ...]``.

The page's own config on one worker with one thread, through the pool as from the page. Prints for each counting model the
step and the seconds since Train was pressed, reading the text and every look included, at which the held-out loss was first
below it, and the load of the machine: it wants to be alone.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from engine.analysis.text_jobs import CountWords
from engine.config.text_recipe import text_config
from engine.foundation.files import DATA_VARIABLE
from engine.runs.events import Progress
from engine.runs.passing import passed
from engine.runs.request import RunRequest
from engine.runs.store import Runs
from engine.workers.pool import Pool


def measure(settings: dict[str, str]) -> dict[str, Any]:
    config = text_config(device="cpu", **settings)
    with tempfile.TemporaryDirectory() as folder, Pool(Runs(Path(folder) / "runs"), size=1) as pool:
        os.environ[DATA_VARIABLE] = folder
        pool.wait_until_ready(60)
        before = os.getloadavg()[0]
        began = time.monotonic()
        run = pool.submit(RunRequest(config))
        known = pool.ask(CountWords(config), timeout=180.0)
        seconds: dict[int, float] = {}
        seen = 0
        while run.live or seen < len(run.events):
            run.wait_for(seen + 1, 1.0)
            for event in run.events_since(seen):
                seen += 1
                if isinstance(event, Progress) and event.validation is not None:
                    seconds[event.step] = time.monotonic() - began
        rows = {row.name: row for row in passed(config, run.events, known["levels"])}
        return {
            "load": {"before": before, "after": os.getloadavg()[0]},
            "counting_models": known["levels"],
            "passed": {
                name: None if row.step is None else {"step": row.step, "seconds": round(seconds[row.step], 1)}
                for name, row in rows.items()
            },
            "last": {"step": run.step, "nats": rows["trigram"].last, "seconds": round(max(seconds.values()), 1)},
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.text", description="When counting is passed.")
    parser.add_argument("settings", nargs="*", metavar="SETTING=VALUE")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    given = parser.parse_args()
    found = measure(dict(pair.split("=", 1) for pair in given.settings))
    if given.json:
        print(json.dumps(found))
        return
    print(f"load {found['load']['before']:.1f} before, {found['load']['after']:.1f} after")
    for name, row in found["passed"].items():
        level = found["counting_models"][name]
        print(f"{name:8} {level:.3f} nats: " + (f"step {row['step']}, {row['seconds']} s" if row else "not passed"))
    print(f"at the end, step {found['last']['step']}, {found['last']['seconds']} s: {found['last']['nats']:.3f} nats")


if __name__ == "__main__":
    main()
