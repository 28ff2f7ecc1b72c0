"""Script runs take turns: those of one visitor make room for those of others, and all of them wait for each other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local

from engine.foundation.pace import Pace
from engine.foundation.turns import Turns
from pages.parts.app.presence import number_here
from pages.parts.app.visitor import visitor

PACE = Pace(rate=1.0, most=10.0)
"""A script run that computes for t seconds takes t over the visitor's share from a budget that gains one in each second. The full
budget is more than hands can ask for. A script run that draws large pictures so counts for more than one that moves a number."""
TOGETHER = 0.6
"""The part of a second in which the script runs of all visitors together may compute, shared out equally."""
LEAST, MOST = 0.05, 0.3
"""The least and the most share of one visitor, with all tabs together."""
TYPICAL = 0.1
"""Seconds that a script run is taken to compute in a turn until it has: many that wait do not all begin at the same moment."""
LONGEST = 60.0
"""The most seconds that one script run waits."""
AT_ONCE = 1
"""Script runs that compute at the same time. A Python process computes one thing at a time: thirty at once would all be late, and two
would leave the thread that sends what they wrote only every third moment."""
TABS = 2
"""Script runs of one visitor that are under way at the same time, those that wait for an answer among them. A reader has no more; where
there are more, all of them wait behind those of others."""
PATIENCE = 4.0
"""Seconds after which a script run goes on although it is not its turn: some other may be slow."""

_turns = Turns(AT_ONCE)
_under_way: Counter[str] = Counter()
"""The script runs under way by visitor's id, guarded by ``_lock``."""
_lock = Lock()
_of_thread = local()
"""``inside``: whether the thread is in a block of :func:`in_turn`. ``began``: its processor time at the beginning of the present turn;
None between two turns. ``has_turn``: whether it was called, and did not go on because it had waited for too long."""


def let_others_go() -> None:
    """Go on when no other script run waits. Call it in the middle of a long one, when what matters most is drawn."""
    if _end():
        _begin(behind=True)


def share(visitors: int) -> float:
    """The part of each second in which the script runs of one visitor may compute where so many are here."""
    return min(MOST, max(LEAST, TOGETHER / max(1, visitors)))


@contextmanager
def in_turn() -> Iterator[None]:
    """Do what is inside the block when it is this script run's turn, and count its time as the visitor's. Inside of another such
    block it changes nothing: a fragment that computes for long takes a turn where it is run alone."""
    if getattr(_of_thread, "inside", False):
        yield
        return
    whose = visitor().id
    _of_thread.inside = True
    with _lock:
        _under_way[whose] += 1
    try:
        _begin()
        yield
    finally:
        _end()
        _of_thread.inside = False
        with _lock:
            _under_way[whose] -= 1
            if not _under_way[whose]:
                del _under_way[whose]


@contextmanager
def out_of_turn() -> Iterator[None]:
    """Let others have their turn inside the block, in which a script run only waits for an answer. Many that get their answers at the
    same moment, of one visitor, do not all go on at that moment."""
    if not _end():
        yield
        return
    try:
        yield
    finally:
        _begin()


def _begin(*, behind: bool = False) -> None:
    """Take a turn; after a while without one. Who has computed for too long waits for that first, and then behind the others; so does
    who has many tabs at work."""
    whose = visitor().id
    behind = _wait_for_pace() or _under_way[whose] > TABS or behind
    _of_thread.has_turn = _turns.take(PATIENCE, whose, behind=behind)
    _of_thread.began = time.thread_time()


def _end() -> bool:
    """End this thread's turn and count its time; False where it had none."""
    began, _of_thread.began = getattr(_of_thread, "began", None), None
    if began is None:
        return False
    if _of_thread.has_turn:
        _turns.end()
    _spend(time.thread_time() - began - TYPICAL)
    return True


def _wait_for_pace() -> bool:
    """Wait where this visitor's script runs compute for too long, and others are there; whether it waited."""
    wait = _spend(TYPICAL)
    if number_here() <= 1:
        return False
    time.sleep(min(LONGEST, wait))
    return wait > 0


def _spend(computed: float) -> float:
    """Count so many seconds of computing as the visitor's; returns the seconds to wait."""
    return PACE.spend(visitor().id, computed / share(number_here()))
