"""The number of workers and app processes for a number of seats, from measured costs, and the part that is full first."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from engine.hosting.host import SHARED_BYTES, WORKER_BYTES
from tests.load.table import Figures

BATCHES = 10.0
"""The messages per second of a run that trains: its events are sent every tenth of a second."""
AROUND = 4.0
"""The messages of a run beside those: its start, its first point, its files and its end."""
LOOKS = 1.0
"""The messages per second of a worker that has nothing to tell."""
FULL = 0.7
"""The share of a core above which waiting times grow fast."""


@dataclass(frozen=True)
class Costs:
    """The cost of one of each, in seconds of a core."""

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
    """The needs of so many seats, and how full each part then is, as a share of one core."""

    seats: int
    workers: int
    app_processes: int
    messages: float
    """Through the scheduler, per second."""
    scheduler: float
    app: float
    """Of each app process."""
    together: float
    """Seconds until all runs have ended where everybody presses Train at the same moment."""

    @property
    def fits(self) -> bool:
        """Whether one scheduler is enough."""
        return self.scheduler <= FULL

    @property
    def memory(self) -> float:
        """MiB of each worker: every app process starts a process of its own there."""
        return self.app_processes * (SHARED_BYTES + WORKER_BYTES) / 2**20

    @property
    def figures(self) -> Figures:
        """A column of the table in which all share one scheduler."""
        return {
            "workers (one core each)": self.workers,
            "app processes": self.app_processes,
            "messages a second": self.messages,
            "scheduler (cores)": self.scheduler,
            "each app process (cores)": self.app,
            "each worker (MiB)": self.memory,
            "all press Train at once: the last has ended after (s)": self.together,
        }

    def figures_of_each(self, groups: int) -> Figures:
        """A column of the table in which it is the plan of each of so many groups."""
        return {
            "app processes, each with a scheduler": groups,
            "seats of each": self.seats,
            "workers of each": self.workers,
            "workers in all": groups * self.workers,
            "messages a second through each scheduler": self.messages,
            "each scheduler (cores)": self.scheduler,
            "each app process (cores)": self.app,
            "each worker (MiB)": self.memory,
        }


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
        shared / processes + looks * costs.app if processes else float("inf"), seats * costs.run / workers,
    )  # fmt: skip


def first_full(costs: Costs, runs_a_minute: float = 1.0) -> tuple[str, int]:
    """The first part of which one is not enough as the seats grow, workers apart (one takes no more than a core's runs), and the
    largest number of seats that it serves."""

    def most_with(holds: Callable[[Plan], bool]) -> int:
        """The largest number of seats up to which it holds; 0 where it holds for none."""
        return bisect_left(range(1, 2**24), True, key=lambda seats: not holds(plan(seats, costs, runs_a_minute)))

    most = {
        "the app's process": most_with(lambda found: found.app_processes == 1),
        "the scheduler": most_with(lambda found: found.fits),
    }
    name = min(most, key=lambda part: most[part])
    return name, most[name]


def in_groups(seats: int, costs: Costs, runs_a_minute: float = 1.0) -> tuple[int, Plan]:
    """The fewest groups for these seats, and the plan of each: app processes with a scheduler and workers of their own, so that no
    worker holds processes of several apps."""
    _, most = first_full(costs, runs_a_minute)
    number = ceil(seats / max(1, most))
    return number, plan(ceil(seats / number), costs, runs_a_minute)
