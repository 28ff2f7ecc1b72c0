"""Memory of the page process over 1,000 short runs: ``python -m tests.benchmarks.page_memory [--json]``. About twelve minutes.

The real server, once with `runner.postScriptGC` off, as the app sets it, and once with it on. Each run has a visitor of
its own, who opens the lab, presses Train, reads the event stream to its end and leaves; the server forgets a session ten
seconds later. So this covers script runs, sessions, runs in the registry and streams; not the other pages, and not polling.

Ended runs stay in memory up to `engine.runs.store.HELD_BYTES`, so it grows at first with either setting.

runs, MiB         resident memory of the page process after so many runs
seconds a run     from the visitor's coming to the end of the stream
"""

from __future__ import annotations

import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil

from tests.benchmarks.app import print_as_measured
from tests.serving import running
from tests.visitor import visiting

RUNS = 1000
EVERY = 100


def short_run(address: str, seed: int) -> None:
    """A visitor comes, trains, reads the stream to its end and leaves."""
    with visiting(address) as visitor:
        visitor.open("lab", f"steps=20&seed={seed}")
        visitor.press("Train")
        with urllib.request.urlopen(f"{address}live/{visitor.run_id}", timeout=120) as stream:
            stream.read()


def measure() -> Iterator[tuple[str, float]]:
    """Name and value, each as soon as it is known."""
    for setting in ("false", "true"):
        options = {
            "STREAMLIT_RUNNER_POST_SCRIPT_GC": setting,
            "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "10",
            "ATTENTION_LAB_WORKERS": "1",
        }
        name = f"postScriptGC {setting}: "
        with tempfile.TemporaryDirectory() as folder, running("app.py", Path(folder), **options) as (server, address):
            short_run(address, RUNS)  # everything is imported, the worker awake
            process, began = psutil.Process(server.pid), time.perf_counter()
            for done in range(1, RUNS + 1):
                short_run(address, done)
                if done == 1 or done % EVERY == 0:
                    yield f"{name}{done} runs, MiB", process.memory_info().rss / 2**20
            yield f"{name}seconds a run", (time.perf_counter() - began) / RUNS


if __name__ == "__main__":
    print_as_measured(__doc__, measure())
