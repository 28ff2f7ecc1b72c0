"""The runs to keep: of each visitor the newest ones and those that it pinned, then of everybody the newest ones."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# pinned runs take at most one of so many parts of the space, so that there is always room for new ones
PINNED_ONE_IN = 2


@dataclass(frozen=True)
class Retention:
    runs: int = 10**9  # newest runs of everybody
    bytes: int = 10**18  # of all run folders together
    runs_per_visitor: int = 10**9  # newest runs of one visitor, without pinned ones
    pinned_per_visitor: int = 10**9


@dataclass(frozen=True)
class StoredRun:
    id: str
    owner: str
    size: int
    pinned: bool = False
    live: bool = False


def too_many(newest_first: Iterable[StoredRun], allowed: Retention) -> Iterator[str]:
    """Yield the ids of the runs to delete. Pinned and live runs are never among them, but take their space."""
    folders = list(newest_first)
    of_owner = Counter(run.owner for run in folders if run.live and not run.pinned)
    number, size = 0, sum(run.size for run in folders if run.pinned or run.live)
    for run in folders:
        if run.pinned or run.live:
            continue
        of_owner[run.owner] += 1
        # first a visitor's own surplus: one who starts many runs loses those; runs of the program have no owner
        if run.owner and of_owner[run.owner] > allowed.runs_per_visitor:
            yield run.id
            continue
        number, size = number + 1, size + run.size
        if number > allowed.runs or size > allowed.bytes:
            yield run.id


def no_pin(pinned: Iterable[StoredRun], run: StoredRun, allowed: Retention) -> str | None:
    others = list(pinned)
    of_visitor = sum(other.owner == run.owner for other in others)
    if run.owner and of_visitor >= allowed.pinned_per_visitor:
        return f"You keep {of_visitor} runs, and this host allows {allowed.pinned_per_visitor}. Turn off Keep for one first."
    if (sum(other.size for other in others) + run.size) * PINNED_ONE_IN > allowed.bytes:
        return "The space for kept runs is full on this host. Turn off Keep for one first, or download the run."
    return None
