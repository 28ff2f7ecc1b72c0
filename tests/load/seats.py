"""How many workers and app processes a number of seats needs, from measured costs, and which part is full first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from engine.hosting.host import SHARED_BYTES, WORKER_BYTES
from tests.load.table import Figures

BATCHES = 10.0
"""The messages a second of a run that trains: its events are sent every tenth of a second."""
AROUND = 4.0
"""The messages of a run beside those: its start, its first point, its files and its end."""
LOOKS = 1.0
"""The messages a second of a worker that has nothing to tell."""
FULL = 0.7
"""The share of a core above which waiting times grow fast."""


@dataclass(frozen=True)
class Costs:
    """What one of each takes, in seconds of a core."""

    run: float
    """A run, on its worker."""
    viewer: float
    """A second of a page that somebody uses and watches, in the app's process."""
    scheduler: float
    """A message, in the scheduler's process."""
    app: float
    """A message, in the app's process."""


@dataclass(frozen=True)
class Plan:
    """What the seats need, and how full each part then is, as a share of one core."""

    seats: int
    workers: int
    app_processes: int
    messages: float
    """Through the scheduler, a second."""
    scheduler: float
    app: float
    """Of each app process."""
    memory: int
    """Bytes of each worker: every app process starts a process of its own there."""
    together: float
    """Seconds until all runs have ended where everybody presses Train at the same moment."""

    @property
    def fits(self) -> bool:
        """Whether one scheduler is enough."""
        return self.scheduler <= FULL


def plan(seats: int, costs: Costs, runs_a_minute: float = 1.0) -> Plan:
    """The smallest numbers with which no part is fuller than FULL. A worker has one core; so has an app process, because Python's
    threads share one."""
    runs = seats * runs_a_minute / 60
    workers = max(1, ceil(runs * costs.run / FULL))
    told = runs * (costs.run * BATCHES + AROUND)
    shared = seats * costs.viewer + told * costs.app
    looks = workers * LOOKS  # each app process looks at every worker
    room = FULL - looks * costs.app
    processes = max(1, ceil(shared / room)) if room > 0 else 0
    messages = told + looks * processes
    return Plan(
        seats, workers, processes, messages, messages * costs.scheduler,
        shared / processes + looks * costs.app if processes else float("inf"),
        processes * (SHARED_BYTES + WORKER_BYTES), seats * costs.run / workers,
    )  # fmt: skip


def first_full(costs: Costs, runs_a_minute: float = 1.0) -> tuple[str, int]:
    """The first part of which one is not enough as the seats grow, workers apart (one takes no more than a core's runs), and the
    largest number of seats that it serves."""
    most = {
        "the app's process": _largest(lambda seats: plan(seats, costs, runs_a_minute).app_processes == 1),
        "the scheduler": _largest(lambda seats: plan(seats, costs, runs_a_minute).fits),
    }
    name = min(most, key=lambda part: most[part])
    return name, most[name]


def _largest(holds: Callable[[int], bool]) -> int:
    """The largest number, a power of two at most, up to which it holds; 0 where it holds for none."""
    low, high = 0, 1
    while high < 2**24 and holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class Groups:
    """So many app processes, each with a scheduler and workers of its own, so that no worker holds processes of several apps."""

    number: int
    of_each: Plan


def in_groups(seats: int, costs: Costs, runs_a_minute: float = 1.0) -> Groups:
    """The fewest groups for these seats."""
    _, most = first_full(costs, runs_a_minute)
    number = ceil(seats / max(1, most))
    return Groups(number, plan(ceil(seats / number), costs, runs_a_minute))


def figures_of(plans: Iterable[Plan]) -> dict[str, Figures]:
    """A column for each number of seats."""
    return {
        f"{one.seats:,} seats": {
            "workers (one core each)": one.workers,
            "app processes": one.app_processes,
            "messages a second": one.messages,
            "scheduler (cores)": one.scheduler,
            "each app process (cores)": one.app,
            "each worker (MiB)": one.memory / 2**20,
            "all press Train at once: the last has ended after (s)": one.together,
        }
        for one in plans
    }


def group_figures_of(groups: Mapping[int, Groups]) -> dict[str, Figures]:
    """A column for each number of seats."""
    return {
        f"{seats:,} seats": {
            "app processes, each with a scheduler": one.number,
            "seats of each": one.of_each.seats,
            "workers of each": one.of_each.workers,
            "workers in all": one.number * one.of_each.workers,
            "messages a second through each scheduler": one.of_each.messages,
            "each scheduler (cores)": one.of_each.scheduler,
            "each app process (cores)": one.of_each.app,
            "each worker (MiB)": one.of_each.memory / 2**20,
        }
        for seats, one in groups.items()
    }
