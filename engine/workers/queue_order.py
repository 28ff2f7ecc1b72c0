"""The queue of runs: whose turn it is, and how long the others wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from engine.workers.queued import QueuedRun


def in_turn(queue: Sequence[QueuedRun], going: Iterable[QueuedRun]) -> list[QueuedRun]:
    """The queue in the order in which it starts: visitors take turns, runs that somebody looks at before trials of experiments.

    A visitor's first run waits behind nobody's second; among equals, network addresses take turns, so that who throws cookies away
    is not first each time. ``going``: the runs on workers, which count as turns had.
    """
    had = Counter(turn for run in going for turn in _turns_of(run))
    ranked = []
    for rank, run in enumerate(queue):
        own, here = _turns_of(run)
        ranked.append(((run.request.trial, had[own], had[here], rank), run))
        had.update((own, here))
    return [run for _, run in sorted(ranked, key=lambda pair: pair[0])]


def _turns_of(run: QueuedRun) -> tuple[tuple[bool, str, str], tuple[bool, str, str]]:
    """The names under which a run counts as a turn of its visitor and of its visitor's address."""
    visitor = run.request.visitor
    return (run.request.trial, "visitor", visitor.id), (run.request.trial, "address", visitor.address)


def seconds_to_start(going: Sequence[Sequence[float]], waiting: Sequence[float], most: int) -> list[float]:
    """The seconds until each waiting run starts.

    ``going``: for each worker the seconds of training that its runs have left; the runs of a worker share its core
    equally. ``waiting``: the same for the runs in the queue, in order. ``most``: the runs that a worker takes at once.
    """
    workers = [sorted(left) for left in going]
    now, starts = 0.0, list[float]()
    if not workers:
        return starts
    for needed in waiting:
        while min(map(len, workers)) >= most:  # pass the time until the next run of any worker ends
            passed = min(left[0] * len(left) for left in workers)
            now += passed
            for left in workers:
                share = passed / max(1, len(left))
                left[:] = [seconds - share for seconds in left if seconds - share > 1e-9]
        starts.append(now)
        chosen = min(workers, key=len)
        chosen.append(needed)
        chosen.sort()
    return starts
