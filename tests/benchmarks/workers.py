"""The cost of worker processes: ``python -m tests.benchmarks.workers [--issue]``.

first             seconds from the first start in a program, whose fork server imports torch, until the worker is ready
start             seconds from a worker's death until its replacement is ready, of 50: median and 95th percentile; and from a click just
                  after the death to a run's first point
memory            bytes of two workers and two question processes after use: private (of each its own), and all with what they share
public            the same with profile ``public``, after three visitors have trained and asked; the app's page process comes on top
issue             seconds of ``issue missing-mask --seeds 2`` (with ``--issue``)
"""

import argparse
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from engine.config.run_config import RunConfig
from engine.foundation.files import DATA_VARIABLE
from engine.foundation.log import LOG
from engine.foundation.visitor import Visitor
from engine.hosting.limits import PROFILES, Limits
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers.pool import TRAINING, Pool
from tests.engine.fake_training import Nap

STARTS = 50
SHORT = RunConfig().replace(steps=300)


def seconds_until(holds: Callable[[], object]) -> float:
    began = time.perf_counter()
    while not holds():
        time.sleep(0.002)
    return time.perf_counter() - began


def with_pool(size: int, limits: Limits, measure: Callable[[Pool], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder, Pool(Runs(Path(folder)), limits, size, training=TRAINING) as pool:
        pool.wait_until_ready(600)
        return measure(pool)


def starts(pool: Pool) -> dict[str, float]:
    """A worker of one is killed again and again: the time until the next one is ready, and until a run that is asked for at once has
    its first point."""
    ready, points = list[float](), list[float]()
    for number in range(STARTS):
        before = pool.health().training[0].pid
        psutil.Process(before).kill()
        began = time.perf_counter()
        run = pool.submit(RunRequest(SHORT)) if number % 10 == 0 else None
        seconds_until(lambda before=before: any(one.pid != before for one in pool.health().training))
        ready.append(time.perf_counter() - began)
        if run is not None:
            seconds_until(lambda run=run: run.step > 0 or not run.live)
            points.append(time.perf_counter() - began)
            end(pool, [run])
    return {
        "ready p50": statistics.median(ready),
        "ready p95": sorted(ready)[int(0.95 * STARTS)],
        "first point after a death": statistics.median(points),
    }


def end(pool: Pool, runs: Iterable[Run]) -> None:
    for run in runs:
        pool.stop(run.id)
        seconds_until(lambda run=run: not run.live)


def used(visitors: int, pool: Pool) -> dict[str, float]:
    """Bytes after so many visitors have trained a run each, and asked a question at the same time."""
    people = [Visitor(f"visitor {number}") for number in range(visitors)]
    runs = [pool.submit(RunRequest(SHORT.replace(seed=number), person)) for number, person in enumerate(people)]
    with ThreadPoolExecutor(visitors) as threads:
        asked = [threads.submit(pool.ask, Nap(0.5 + number / 100), person) for number, person in enumerate(people)]
        for answer in asked:
            answer.result()
    for run in runs:
        seconds_until(lambda run=run: not run.live)
    return memory(psutil.Process().children(recursive=True))


def memory(processes: list[psutil.Process]) -> dict[str, float]:
    facts = [process.memory_full_info() for process in processes]
    return {
        "processes": len(processes),
        "private": sum(fact.uss for fact in facts),
        "with what they share, once": sum(getattr(fact, "pss", fact.uss) for fact in facts),
    }


def issue() -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "engine", "issue", "missing-mask", "--seeds", "2"]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, DATA_VARIABLE: folder})
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--issue", action="store_true", help="time an issue, too: half a minute")
    given = parser.parse_args()
    LOG.setLevel(logging.ERROR)  # of each worker that is killed there is a line
    public = Limits.model_validate(PROFILES["public"])
    began = time.perf_counter()
    first = with_pool(1, Limits(), lambda pool: time.perf_counter() - began)
    found = {
        "first": first,
        "start": with_pool(1, Limits(), starts),
        "memory": with_pool(2, Limits(job_processes=2), partial(used, 2)),
        "public": with_pool(1, public, partial(used, 3)),
        **({"issue": issue()} if given.issue else {}),
    }
    for name, value in found.items():
        rows = value.items() if isinstance(value, dict) else [("", value)]
        for what, number in rows:
            shown = f"{number / 2**20:.0f} MiB" if number > 10_000 else f"{number:.3f}"
            print(f"{name:12} {what:28} {shown}")


if __name__ == "__main__":
    main()
