"""``python -m tests.benchmarks.cluster``: two workers on a loopback cluster with TLS beside two of this machine's own.

Both pools are up all the time and take turns, so that what else the machine does affects both. Steps a second are those of two
default runs at once; click to point is the time from the submission of a run to its first step in the app; an event's way is the
time from a step in the worker to the app, of the latest step of each delivery.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from engine.cluster.cluster import DaskCluster
from engine.config.run_config import RunConfig
from engine.hosting.limits import Limits
from engine.runs.events import Event, Finished, Progress, Started
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.workers.pool import TRAINING, Pool
from tests.clustering import loopback_cluster
from tests.engine.fake_training import MEMORY, State, begin

__all__ = ["begin", "train"]

WORKERS = 2
PATIENCE = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=1500)
    given = parser.parse_args()
    with both_pools(TRAINING) as (here, there):
        rates = [[steps_a_second(pool, given.steps) for pool in (here, there)] for _ in range(given.rounds)]
        clicks = [[first_point(pool) for pool in (here, there)] for _ in range(3 * given.rounds)]
        stops = [[stop_seconds(pool) for pool in (here, there)] for _ in range(given.rounds)]
    with both_pools("tests.benchmarks.cluster") as pools:
        ways = [event_ways(pool) for pool in pools]
    print("| | this machine's workers | the cluster's | ratio |\n|---|--:|--:|--:|")
    row("steps a second, two runs at once", np.array(rates))
    row("click to first point (ms)", 1000 * np.array(clicks))
    row("stop to its end in the app (ms)", 1000 * np.array(stops))
    for name, share in (("median", 50), ("p95", 95)):
        ours, theirs = (1000 * float(np.percentile(way, share)) for way in ways)
        print(f"| an event's way, {name} (ms) | {ours:.1f} | {theirs:.1f} | |")


@contextmanager
def both_pools(training: str) -> Iterator[list[Pool]]:
    """A pool of this machine's workers, and one of the cluster's."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = stack.enter_context(loopback_cluster(folder, WORKERS))
        machines = {"here": None, "there": DaskCluster(cluster.address, cluster.security)}
        pools = [
            stack.enter_context(Pool(Runs(folder / name), Limits(), WORKERS, training=training, cluster=one))
            for name, one in machines.items()
        ]
        for pool, one in zip(pools, machines.values(), strict=True):
            until(lambda pool=pool, one=one: ready_workers(pool, elsewhere=one is not None) >= WORKERS)
        yield pools


def ready_workers(pool: Pool, *, elsewhere: bool) -> int:
    return sum(worker.ready and bool(worker.machine) == elsewhere for worker in pool.health().workers)


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


def train(config: RunConfig, *given: object, state: State | None = None) -> Generator[Event, str | None, None]:
    """A stand-in for the training, of a hundred steps per second, whose loss is the time at which a step was made."""
    yield Started(10, MEMORY, 100.0, {"loss": 2.3}, 1.0, "cpu")
    for step in range(1, config.steps + 1):
        time.sleep(0.01)
        yield Progress(step, time.time(), 1.0, 0.01, 1000.0)
    yield Finished(config.steps, {"loss": 0.0}, [], MEMORY, 0.1)


def ended(runs: Sequence[Run]) -> None:
    for run in runs:
        assert run.wait_for(10**9, PATIENCE)
        assert run.state == "finished", run.ending


def until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.0005)


def row(name: str, pairs: np.ndarray) -> None:
    """Print the medians of both columns, and that of the pairs' ratios."""
    ours, theirs = np.median(pairs, axis=0)
    print(f"| {name} | {ours:.4g} | {theirs:.4g} | {np.median(pairs[:, 1] / pairs[:, 0]):.2f} |")


if __name__ == "__main__":
    main()
