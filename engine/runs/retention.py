"""Which runs are kept: of each visitor the newest ones and those that it pinned, then of everybody the newest ones."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PINNED_SHARE = 2
"""Pinned runs take at most one of this many parts of the space, so that there is always room for new ones."""


@dataclass(frozen=True)
class Retention:
    """How much is kept. The defaults keep everything."""

    runs: int = 10**9
    """Runs of everybody, the newest."""
    bytes: int = 10**18
    """The size of all run folders together."""
    runs_per_visitor: int = 10**9
    """Runs of one visitor, the newest; pinned ones do not count."""
    pinned_per_visitor: int = 10**9
    """Pinned runs of one visitor."""


@dataclass(frozen=True)
class StoredRun:
    """A run's folder as the rule sees it."""

    id: str
    owner: str
    size: int
    """Bytes."""
    pinned: bool = False
    live: bool = False
    """Whether the run goes on, here or on another server."""


def too_many(newest_first: Iterable[StoredRun], allowed: Retention) -> Iterator[str]:
    """The ids of the runs to delete. Pinned and live runs are never among them, but take their space.

    A visitor's own surplus goes first, so that one who starts many runs loses those and nobody else's; runs of the program
    itself have no owner and count with everybody's only.
    """
    folders = list(newest_first)
    of_owner = Counter(run.owner for run in folders if run.live and not run.pinned)
    number, size = 0, sum(run.size for run in folders if run.pinned or run.live)
    for run in folders:
        if run.pinned or run.live:
            continue
        of_owner[run.owner] += 1
        if run.owner and of_owner[run.owner] > allowed.runs_per_visitor:
            yield run.id
            continue
        number, size = number + 1, size + run.size
        if number > allowed.runs or size > allowed.bytes:
            yield run.id


def no_pin(pinned: Iterable[StoredRun], run: StoredRun, allowed: Retention) -> str | None:
    """The reason why a run cannot be pinned besides those that are, in one sentence; else None."""
    others = list(pinned)
    of_visitor = sum(other.owner == run.owner for other in others)
    if run.owner and of_visitor >= allowed.pinned_per_visitor:
        return f"You keep {of_visitor} runs, and this host allows {allowed.pinned_per_visitor}. Turn off Keep for one first."
    if (sum(other.size for other in others) + run.size) * PINNED_SHARE > allowed.bytes:
        return "The space for kept runs is full on this host. Turn off Keep for one first, or download the run."
    return None
