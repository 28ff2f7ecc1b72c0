"""What the worker pool costs: ``python -m tests.benchmarks.pool [--json]``. Paired measurements in one run, about a minute.

first event       submit to the run's facts, and to the first point of its curve (s)
job               a short job's round trip while two long runs train (s)
replacement       a killed worker: until its run is lost, and until another worker is ready (s)
speed             steps a second through the pool against the bare loop in a process of its own
page process      resident memory (bytes), without torch
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from engine.config.run_config import RunConfig
from engine.foundation.child import KEPT_BLOCKS
from engine.foundation.visitor import Visitor
from engine.runs.events import Progress
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers.pool import Pool
from tests.engine.fake_training import Add

CLASSIC = RunConfig()
LONG = CLASSIC.replace(steps=50_000)
TIMED = CLASSIC.replace(steps=2000)
PAIRS = 3
BARE = """
import sys, time, torch
from engine.config.run_config import RunConfig
from engine.runs.events import Progress
from engine.training.train import train
torch.set_num_threads(1)
for _ in train(RunConfig().replace(steps=5)): pass
began = None
for event in train(RunConfig().replace(steps=int(sys.argv[1]))):
    if isinstance(event, Progress) and event.step == 1: began = time.perf_counter()
    if isinstance(event, Progress) and event.step == int(sys.argv[1]): print(time.perf_counter() - began)
"""


def first_points(pool: Pool, repeats: int = 7) -> dict[str, float]:
    """Median seconds from submit to the first event and to the first point."""
    facts, points = [], []
    for seed in range(repeats):
        began = time.perf_counter()
        run = pool.submit(RunRequest(CLASSIC.replace(seed=seed)))
        run.wait_for(1)
        facts.append(time.perf_counter() - began)
        while run.progress is None:
            run.wait_for(len(run.events) + 1)
        points.append(time.perf_counter() - began)
        end(pool, run)
    return {"facts": statistics.median(facts), "first_point": statistics.median(points)}


def job_latency(pool: Pool, repeats: int = 30) -> dict[str, float]:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        pool.ask(Add(1, 2))
        times.append(time.perf_counter() - began)
        time.sleep(0.03)
    return {"median": statistics.median(times), "max": max(times)}


def replacement(pool: Pool) -> dict[str, float]:
    with training(pool, 1) as (run,):
        pid = next(worker.pid for worker in pool.health().workers if worker.runs)
        began = time.perf_counter()
        psutil.Process(pid).kill()
        run.wait_for(10**9)
        noticed = time.perf_counter() - began
        pool.wait_until_ready(60)
        return {"noticed": noticed, "ready_again": time.perf_counter() - began}


def bare_seconds(steps: int) -> float:
    """From the first step to the last of the classic run, in a process of its own without any pool."""
    command = [sys.executable, "-c", BARE, str(steps)]
    environment = KEPT_BLOCKS | os.environ  # as a worker has it
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def speed(pool: Pool) -> dict[str, float]:
    """Median over pairs, each pair one after the other; from the first step to the last."""
    bare, pooled = [], []
    for _ in range(PAIRS):
        bare.append((TIMED.steps - 1) / bare_seconds(TIMED.steps))
        run = pool.submit(RunRequest(TIMED))
        while run.progress is None:
            run.wait_for(len(run.events) + 1)
        began, first = time.perf_counter(), run.progress.step
        while run.step < TIMED.steps:
            run.wait_for(len(run.events) + 1)
        pooled.append((TIMED.steps - first) / (time.perf_counter() - began))
        end(pool, run)
    shares = [ours / theirs for ours, theirs in zip(pooled, bare, strict=True)]
    return {
        "bare": statistics.median(bare),
        "pool": statistics.median(pooled),
        "share": statistics.median(shares),
    }


@contextmanager
def training(pool: Pool, count: int) -> Iterator[list[Run]]:
    """So many long runs of as many sessions, all of which have begun."""
    runs = [pool.submit(RunRequest(LONG.replace(seed=seed), visitor=Visitor(str(seed)))) for seed in range(count)]
    while not all(any(isinstance(event, Progress) for event in run.events) for run in runs):
        time.sleep(0.01)
    yield runs
    for run in runs:
        end(pool, run)


def end(pool: Pool, run: Run) -> None:
    pool.stop(run.id)
    run.wait_for(10**9)


def measure() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        with Pool(Runs(Path(folder))) as pool:
            pool.wait_until_ready(60, workers=1)
            found["start"] = {"first_worker": time.perf_counter() - began}
            pool.wait_until_ready(60)
            found["start"]["all_workers"] = time.perf_counter() - began
            found["alone"] = first_points(pool)
            with training(pool, 2):
                found["job_under_two_runs"] = job_latency(pool)
            with training(pool, 10):
                found["under_ten_runs"] = first_points(pool) | {"job_" + k: v for k, v in job_latency(pool).items()}
            found["replacement"] = replacement(pool)
            found["speed"] = speed(pool)
            health = pool.health()
            found["memory"] = {
                "page_process": psutil.Process().memory_info().rss,
                "largest_worker": max(worker.memory for worker in health.workers),
            }
    assert "torch" not in sys.modules
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.pool", description="What the worker pool costs.")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    as_json = parser.parse_args().json
    found = measure()
    if as_json:
        print(json.dumps(found))
        return
    for group, values in found.items():
        print(group.replace("_", " "))
        for name, value in values.items():
            print(f"    {name.replace('_', ' '):14} {value:,.4g}")


if __name__ == "__main__":
    main()
