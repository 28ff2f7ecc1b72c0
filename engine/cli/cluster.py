from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pydantic import ByteSize

from engine.cli.terminal import POLL_SECONDS
from engine.config.run_config import RunConfig
from engine.foundation.errors import NoWorkers
from engine.runs.events import Event
from engine.runs.record_options import RecordOptions
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.runs.store import Runs
from engine.serving.cluster import SCHEDULER_VARIABLE, cluster_at
from engine.serving.limits import Limits
from engine.serving.pool import Pool

if TYPE_CHECKING:  # needs what requirements-cluster.txt names
    from engine.serving.cluster.cluster import DaskCluster

JOIN_SECONDS = 30.0  # for a first worker of the cluster to join
WARM_SECONDS = 120.0
STOP_SECONDS = 30.0  # until the end of a run that was told to stop; the pool ends it by force sooner
# the person who types a command decides about its cost, as on this machine
NO_LIMITS = Limits(steps=2**60, memory=ByteSize(2**60), seconds=2.0**60)


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        default=os.environ.get(SCHEDULER_VARIABLE, ""),
        help=f"train on the workers of the Dask scheduler at tls://host:port; default ${SCHEDULER_VARIABLE}, else this machine",
    )


@contextmanager
def warm_pool(scheduler: str, workers: int | None = None, limits: Limits | None = None) -> Iterator[Pool]:
    """Yield a pool once ``workers`` of its workers (by default all) are warm: on the cluster of that scheduler, or on this machine
    if ``scheduler`` is empty. The runs are deleted at the end. Raises ValueError with one sentence if the cluster has no workers,
    and NoWorkers if they cannot be started."""
    cluster = cluster_at(scheduler)
    with TemporaryDirectory() as folder, Pool(Runs(Path(folder)), limits, cluster=cluster) as pool:
        if cluster is not None:
            _wait_for_machines(cluster)
        if not pool.wait_until_ready(WARM_SECONDS, workers):
            raise NoWorkers(pool.health().problem or f"No worker was ready within {WARM_SECONDS:.0f} s.")
        yield pool


def _wait_for_machines(cluster: DaskCluster) -> None:
    deadline, at = time.monotonic() + JOIN_SECONDS, f"The cluster at {cluster.address}"
    while not cluster.machines:
        if time.monotonic() > deadline:
            if cluster.problem or cluster.connecting:
                raise ValueError(f"{at} could not be reached within {JOIN_SECONDS:.0f} s.")
            none = f"{at} has no worker that takes runs, even after {JOIN_SECONDS:.0f} s."
            raise ValueError(" ".join([none, *list(cluster.refused.values())[:1]]))
        time.sleep(POLL_SECONDS)


@contextmanager
def run_on(scheduler: str, config: RunConfig, record: RecordOptions) -> Iterator[Run]:
    """Yield a run on the cluster of that scheduler. Its events and weights exist inside the block only, and at its end the run is
    stopped. Raises ValueError with one sentence."""
    with warm_pool(scheduler, 1, NO_LIMITS) as pool:
        run = pool.submit(RunRequest(config, record=record))
        try:
            yield run
        finally:
            if run.live:
                pool.stop(run.id)
                run.wait_for(sys.maxsize, STOP_SECONDS)


def events_of(run: Run) -> Iterator[Event]:
    known, over = 0, False
    while not over:
        run.wait_for(known + 1, POLL_SECONDS)
        over = not run.live  # before the events: a run that ends in between is read once more
        events = run.events[known:]
        yield from events
        known += len(events)
