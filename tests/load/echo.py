"""A hundred simulated workers on one Dask scheduler, which only tell events of a run's size at a run's rate, and what that costs.

    python -m tests.load.echo --workers 100 --rates 1 2 5 10 20 --seconds 10 --write docs/cluster.md

The client asks as the app does (:mod:`engine.cluster.member`): one open call a worker, passed on by the scheduler; it reads what
comes and looks once a second at which workers are there. All is on loopback, without TLS. From the costs of a message it is then
computed how many workers and app processes a number of seats needs (:mod:`tests.load.seats`).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask
import psutil
from distributed import Client, Worker, WorkerPlugin

from engine.cluster.cluster import ask
from engine.cluster.codec import decode, encode
from engine.runs.events import Progress
from engine.workers.protocol import RunUpdate
from tests.clustering import loopback_cluster
from tests.load.seats import BATCHES, Costs, first_full, in_groups, plan
from tests.load.table import Figures, percentile, put, table
from tests.load.watch import processor_seconds
from tests.serving import ROOT

OPERATION = "attention_lab_echo"
LONGEST = 1.0
"""Seconds that a call waits for something to tell, as at a real worker."""
STEPS = 40
"""The steps in one message: the default run takes about four hundred per second, and sends ten messages."""
HEARD = 0.9
"""The share of the messages from which on they count as all heard."""
SETTLE = 2.0
"""Seconds at a new rate before the measurement begins."""
PROCESSES = 4
"""The processes that the simulated workers share."""
RUN_SECONDS = 1.33
"""The default run on a core, and the page of a session that trains and moves controls, in cores: both from docs/load.md."""
VIEWER = 0.583 / 30


class Echo(WorkerPlugin):
    """Tells the same events again and again at the rate that it was given last."""

    name = OPERATION

    def setup(self, worker: Worker) -> None:
        self._rate, self._told, self._something = 0.0, list[list[Any]](), asyncio.Event()
        self._task = asyncio.create_task(self._tell())
        worker.handlers[OPERATION] = self._called

    def teardown(self, worker: Worker) -> None:
        self._task.cancel()

    async def _called(self, rate: float | None = None) -> list[list[Any]]:
        """With a rate: tell so many messages per second from now on. Without: give those that there are."""
        if rate is not None:
            self._rate = rate
            return []
        if not self._told:
            self._something.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._something.wait(), LONGEST)
        told, self._told = self._told, []
        return told

    async def _tell(self) -> None:
        body = encode(RunUpdate("a" * 16, events_of_a_batch()))
        while True:
            await asyncio.sleep(1 / self._rate if self._rate else 0.1)
            if self._rate:
                self._told.append([time.monotonic(), body])
                self._something.set()


def events_of_a_batch() -> list[Progress]:
    metrics = {"second_half_accuracy": 0.5, "first_half_accuracy": 0.1}
    return [Progress(step, 1.234567, 0.5, 0.01, 40_000.0, {} if step % 4 else metrics) for step in range(STEPS)]


async def measured(
    address: str, scheduler: psutil.Process, simulating: Sequence[psutil.Process], workers: int, rates: Sequence[float],
    seconds: float, *, directly: bool,
) -> list[Figures]:  # fmt: skip
    """A row of figures for each rate, in messages per second of each worker; the first is without any message. ``directly``: without
    the scheduler between, as the app does where it reaches the workers."""
    latencies: list[float] = []  # of the messages that were heard at this rate
    own = psutil.Process()

    def cores() -> list[float]:
        return [processor_seconds(scheduler), processor_seconds(own), sum(map(processor_seconds, simulating))]

    async with Client(address, asynchronous=True, set_as_default=False) as client:
        await client.wait_for_workers(workers)
        addresses = list((await client.scheduler.identity(n_workers=-1))["workers"])

        async def call(worker: str, **message: object) -> Any:
            if directly:
                return await ask(client, worker, OPERATION, **message)
            return await ask(client, address, "proxy", worker=worker, msg={"op": OPERATION, **message})

        async def listen(worker: str) -> None:
            while True:
                for sent, body in await call(worker):
                    decode(body)
                    latencies.append(time.monotonic() - sent)

        async def look() -> None:
            while True:
                await client.scheduler.identity(n_workers=-1)
                await asyncio.sleep(1.0)

        tasks = [asyncio.create_task(work) for work in (look(), *map(listen, addresses))]
        rows = []
        for rate in (0.0, *rates):
            await asyncio.gather(*(call(worker, rate=rate) for worker in addresses))
            await asyncio.sleep(SETTLE)
            latencies.clear()
            began, before = time.monotonic(), cores()
            await asyncio.sleep(seconds)
            taken = time.monotonic() - began
            at_scheduler, here, there = ((now - then) / taken for now, then in zip(cores(), before, strict=True))
            rows.append({
                "asked for (messages/s)": rate * workers,
                "heard (messages/s)": len(latencies) / taken,
                "scheduler (cores)": at_scheduler,
                "client (cores)": here,
                "simulated workers together (cores)": there,
                "from worker to client, p50 (ms)": 1000 * percentile(latencies, 0.5),
                "from worker to client, p95 (ms)": 1000 * percentile(latencies, 0.95),
            })  # fmt: skip
            print(table({f"{rate:g}": rows[-1]}), flush=True)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return rows


def costs_of(rows: Sequence[Figures]) -> Costs:
    """The cost of a message in scheduler and app: by how much the cores grow from no message to the most that were all heard. Raises
    ValueError where at no rate all were heard: the machine was too busy, and the cores then say nothing about messages."""
    quiet = rows[0]
    kept_up = [row for row in rows[1:] if row["heard (messages/s)"] > HEARD * row["asked for (messages/s)"]]
    if not kept_up:
        raise ValueError(
            f"At no rate {HEARD:.0%} of the messages were heard: the machine was too busy to measure what one costs."
        )
    busy = max(kept_up, key=lambda row: row["heard (messages/s)"])

    def cost(name: str) -> float:
        return max(0.0, busy[name] - quiet[name]) / busy["heard (messages/s)"]

    return Costs(RUN_SECONDS, VIEWER, cost("scheduler (cores)"), cost("client (cores)"))


async def be_workers(address: str, count: int) -> None:
    async def be_one(number: int) -> None:
        name = f"echo-{os.getpid()}-{number}"
        async with Worker(address, nthreads=1, name=name, plugins=[Echo()], dashboard=False) as worker:
            await worker.finished()

    await asyncio.gather(*map(be_one, range(count)))


@contextmanager
def simulated(workers: int) -> Iterator[tuple[str, psutil.Process, list[psutil.Process]]]:
    """A scheduler with so many simulated workers: its address, its process, and theirs."""
    python = [sys.executable, "-m", "tests.load.echo", "--address"]
    shares = [len(range(number, workers, PROCESSES)) for number in range(min(PROCESSES, workers))]
    with TemporaryDirectory() as folder, loopback_cluster(Path(folder), 0, tls=False) as cluster:
        for share in shares:
            command = [*python, cluster.address, "--workers", str(share)]
            cluster.workers.append(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL))
        each = [psutil.Process(process.pid) for process in (cluster.scheduler, *cluster.workers)]
        yield cluster.address, each[0], each[1:]


def told(rows: Sequence[Figures], workers: int, seats: Sequence[int]) -> str:
    """The tables, and the sentence about what is full first."""
    costs = costs_of(rows)
    name, most = first_full(costs)
    grouped = {number: in_groups(number, costs) for number in seats}
    size = len(encode(RunUpdate("a" * 16, events_of_a_batch())))
    columns = {f"{row['asked for (messages/s)'] / workers:g} a worker": row for row in rows}
    return "\n\n".join([
        f"{workers} simulated workers, each telling so many messages a second; one of {size:,} bytes holds {STEPS} steps, and a run "
        f"that trains at full speed tells {BATCHES:g} a second:",
        table(columns),
        f"Costs are read from the busiest column in which at least {HEARD:.0%} was heard; where less was, the cores were full.",
        f"So a message takes {1000 * costs.scheduler:.2f} ms of the scheduler and {1000 * costs.app:.2f} ms of the app's process. With "
        f"that, {costs.run} s for a run and {costs.viewer:.4f} cores for a page that is used ([load.md](load.md)), where each seat trains "
        "once a minute and all share one scheduler:",
        table({f"{number:,} seats": plan(number, costs).figures for number in seats}),
        f"{name.capitalize()} is full first: one serves {most:,} seats. Each app process has processes of its own on every worker, so that "
        "many of them fill the workers' memory next, and their looks at all workers the scheduler. Where each app process has a scheduler "
        "and workers of its own, neither grows:",
        table({f"{number:,} seats": of_each.figures_of_each(groups) for number, (groups, of_each) in grouped.items()}),
        f"{os.cpu_count()} cores, Python {platform.python_version()}; scheduler, client and simulated workers shared them with other work.",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument(
        "--rates", type=float, nargs="+", default=[1.0, 2.0, 5.0, 10.0, 20.0], help="messages per second of each worker"
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="for each rate")
    parser.add_argument("--seats", type=int, nargs="+", default=[30, 300, 3000])
    parser.add_argument("--directly", action="store_true", help="without the scheduler between workers and client")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    parser.add_argument("--address", help=argparse.SUPPRESS)  # of the scheduler: this process is workers only
    given = parser.parse_args()
    # The profile's thread would run once for each simulated worker.
    dask.config.set({"distributed.worker.profile.enabled": False})
    if given.address:
        asyncio.run(be_workers(given.address, given.workers))
        return
    with simulated(given.workers) as (address, scheduler, simulating):
        rows = asyncio.run(
            measured(address, scheduler, simulating, given.workers, given.rates, given.seconds, directly=given.directly)
        )
    text = told(rows, given.workers, given.seats)
    print(text)
    if given.write:
        put(given.write, "simulated", text)


if __name__ == "__main__":
    main()
