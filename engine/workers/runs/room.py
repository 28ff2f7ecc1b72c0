"""Which runs give their places on workers to those that wait."""

from collections import Counter
from collections.abc import Iterable, Sequence

from engine.foundation.shares import Claim
from engine.workers.runs.queued import QueuedRun


def who_makes_room(
    short: Iterable[QueuedRun], going: Iterable[QueuedRun], able: Sequence[QueuedRun]
) -> list[QueuedRun]:
    """For each of ``short``, runs that wait, at most one of ``able``, the runs on workers that can be suspended. ``going``: all on workers.

    Places are shared as time is, by network, by address and by visitor (:mod:`engine.foundation.shares`): the network with the most of them
    gives one to a network that has at least two fewer, so do the addresses in one, and the visitors at one. The run that came last goes.
    """
    had = Counter(part for run in going for part in _parts(run))
    left, found = list(able), list[QueuedRun]()
    for run in short:
        chosen = _of_who_has_most(run, left, had)
        if chosen is not None:
            found.append(chosen)
            left.remove(chosen)
            had.subtract(_parts(chosen))
            had.update(_parts(run))
    return found


def _of_who_has_most(short: QueuedRun, able: Sequence[QueuedRun], had: Counter[Claim]) -> QueuedRun | None:
    own = _parts(short)
    for level, part in enumerate(own):
        inside = [run for run in able if _parts(run)[:level] == own[:level]]
        most = max((had[_parts(run)[level]] for run in inside), default=0)
        if most >= had[part] + 2:
            fullest = [run for run in inside if had[_parts(run)[level]] == most]
            return max(reversed(fullest), key=lambda run: had[_parts(run)[-1]])
    return None


def _parts(run: QueuedRun) -> list[Claim]:
    """The claims under which a run counts: that of its network, that of its address in it, and that of its visitor there."""
    claim = run.request.visitor.claim
    return [claim[:depth] for depth in range(1, len(claim) + 1)]
