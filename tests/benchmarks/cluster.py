"""``python -m tests.benchmarks.cluster``: two workers on a loopback cluster with TLS beside two of this machine's own.

Both pools are up all the time and take turns, so that what else the machine does affects both. Steps a second are those of two
default runs at once; click to point is the time from the submission of a run to its first step in the app; an event's way is the
time from a step in the worker to the app, of the latest step of each delivery.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from engine.cluster.cluster import DaskCluster
from engine.config.run_config import RunConfig
from engine.hosting.limits import Limits
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers.pool import TRAINING, Pool
from tests.clustering import LoopbackCluster, loopback_cluster

WORKERS = 2
PATIENCE = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=1500)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = stack.enter_context(loopback_cluster(folder, WORKERS))
        there, here = (stack.enter_context(pool_in(folder, one)) for one in (cluster, None))
        rates = [[steps_a_second(pool, given.steps) for pool in (here, there)] for _ in range(given.rounds)]
        clicks = [[first_point(pool) for pool in (here, there)] for _ in range(3 * given.rounds)]
        stops = [[stop_seconds(pool) for pool in (here, there)] for _ in range(given.rounds)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = stack.enter_context(loopback_cluster(folder, WORKERS))
        clocked = [
            stack.enter_context(pool_in(folder, one, "tests.benchmarks.clock_training")) for one in (None, cluster)
        ]
        ways = [event_ways(pool) for pool in clocked]
    print("| | this machine's workers | the cluster's | ratio |\n|---|--:|--:|--:|")
    row("steps a second, two runs at once", rates, lambda ours, theirs: theirs / ours)
    row("click to first point (ms)", 1000 * np.array(clicks), lambda ours, theirs: theirs / ours)
    row("stop to its end in the app (ms)", 1000 * np.array(stops), lambda ours, theirs: theirs / ours)
    for name, share in (("median", 50), ("p95", 95)):
        ours, theirs = (1000 * float(np.percentile(way, share)) for way in ways)
        print(f"| an event's way, {name} (ms) | {ours:.1f} | {theirs:.1f} | |")


@contextmanager
def pool_in(folder: Path, cluster: LoopbackCluster | None, training: str = TRAINING) -> Iterator[Pool]:
    there = DaskCluster(cluster.address, cluster.security) if cluster else None
    name = "there" if cluster else "here"
    with Pool(Runs(folder / name), Limits(), WORKERS, training=training, cluster=there) as pool:
        while sum(worker.ready and bool(worker.machine) == bool(cluster) for worker in pool.health().workers) < WORKERS:
            time.sleep(0.05)
        yield pool


def steps_a_second(pool: Pool, steps: int) -> float:
    runs = [pool.submit(RunRequest(RunConfig().replace(steps=steps, seed=seed))) for seed in range(WORKERS)]
    began = time.monotonic()
    ended(runs)
    return WORKERS * steps / (time.monotonic() - began)


def first_point(pool: Pool) -> float:
    began = time.monotonic()
    run = pool.submit(RunRequest(RunConfig().replace(steps=20)))
    until(lambda: run.step > 0)
    seconds = time.monotonic() - began
    ended([run])
    return seconds


def stop_seconds(pool: Pool) -> float:
    run = pool.submit(RunRequest(RunConfig().replace(steps=20_000)))
    until(lambda: run.step > 20)
    began = time.monotonic()
    pool.stop(run.id)
    until(lambda: not run.live)
    return time.monotonic() - began


def event_ways(pool: Pool) -> list[float]:
    run = pool.submit(RunRequest(RunConfig().replace(steps=1000)))
    ways, known = list[float](), 0
    while run.live:
        if run.step > known and run.progress is not None:
            known = run.step
            ways.append(time.time() - run.progress.loss)
        time.sleep(0.0005)
    return ways


def ended(runs: Sequence[Run]) -> None:
    for run in runs:
        assert run.wait_for(10**9, PATIENCE)
        assert run.state == "finished", run.ending


def until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.0005)


def row(name: str, pairs: Sequence[Sequence[float]] | np.ndarray, ratio: Callable[[float, float], float]) -> None:
    ours, theirs = (statistics.median(pair[at] for pair in pairs) for at in (0, 1))
    paired = statistics.median(ratio(*pair) for pair in pairs)
    print(f"| {name} | {ours:.4g} | {theirs:.4g} | {paired:.2f} |")


if __name__ == "__main__":
    main()
