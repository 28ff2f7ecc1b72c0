"""Script runs take turns: those of one visitor make room for those of others, and all of them wait for each other."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, local

from engine.foundation.visitor import RateLimit, Turns
from pages.parts.app.visitor import number_here, visitor

PACE = RateLimit(rate=1.0, most=10.0)
"""A script run that computes for t seconds takes t times its price from a budget that gains one in each second. The full
budget is more than hands can ask for. A script run that draws large pictures so counts for more than one that moves a number."""
TOGETHER = 0.6
"""The part of a second in which the script runs of all visitors together may compute, shared out equally."""
MIN_SHARE, MAX_SHARE = 0.05, 0.3
"""The least and the most share of one visitor, with all tabs together."""
MAX_WAIT_SECONDS = 60.0
"""The most seconds that a script run waits for the visitor's other script runs, and again for the visitor's budget."""
SCRIPTS_AT_ONCE = 1
"""Script runs that compute at the same time. A Python process runs one thread at a time: of thirty at once all would be late, and beside
two the thread that sends their messages would get a third of the time."""
TABS = 2
"""The number of script runs that a reader has under way at the same time, at most; those that wait for an answer count. Where a visitor has
more, all of them wait behind those of others, and each takes more from the budget (:func:`price`)."""
PATIENCE = 4.0
"""Seconds after which a script run goes on although it is not its turn: some other may be slow."""


@dataclass
class _UnderWay:
    """The script runs of one visitor that are under way."""

    visitor: str
    number: int = 0
    turns: Turns = field(default_factory=partial(Turns, 1))
    """One of them at a time computes or waits for the turn of all visitors: its price then includes the time of those before it."""


class _ScriptRun(local):
    """The script run of this thread."""

    beside: _UnderWay | None = None
    """Those of its visitor, with itself; None outside of :func:`in_turn`."""
    taken: Sequence[Turns] | None = None
    """The turns that it has, to be ended when it has computed, without those for which it gave up waiting. None while it has none."""
    began = price = 0.0
    """The processor time of its thread at the beginning of the turn, and what one second of it takes from the visitor's budget."""


_turns = Turns(SCRIPTS_AT_ONCE)
_under_way: dict[str, _UnderWay] = {}
"""By visitor's id, guarded by ``_lock``."""
_lock = Lock()
_script_run = _ScriptRun()


def let_others_go() -> None:
    """Go on when no other script run waits. Call it in the middle of a long one, when what matters most is drawn."""
    if _end():
        _begin(behind=True)


def price(visitors: int, under_way: int) -> float:
    """Seconds of budget for one second of computing. The price rises with the number of ``visitors`` who are here, who share each second,
    and with the number of script runs that this one has ``under_way``, above :data:`TABS`."""
    return max(1.0, under_way / TABS) / min(MAX_SHARE, max(MIN_SHARE, TOGETHER / max(1, visitors)))


@contextmanager
def in_turn() -> Iterator[None]:
    """Do what is inside the block when it is this script run's turn, and count its time as the visitor's. Inside of another such
    block it changes nothing: a fragment that computes for long takes a turn where it is run alone."""
    if _script_run.beside is not None:
        yield
        return
    whose = visitor().id
    with _lock:
        _script_run.beside = beside = _under_way.setdefault(whose, _UnderWay(whose))
        beside.number += 1
    try:
        _begin()
        yield
    finally:
        with _lock:  # before the turn ends: the price of the next one leaves this one out
            beside.number -= 1
            if not beside.number:
                del _under_way[whose]
        _end()
        _script_run.beside = None


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
    beside = _script_run.beside
    assert beside is not None, "This is called inside of in_turn."
    of_visitor = beside.turns.take(MAX_WAIT_SECONDS)
    overdrawn = PACE.wait(beside.visitor) if number_here() > 1 else 0.0
    time.sleep(min(MAX_WAIT_SECONDS, overdrawn))
    everybody = _turns.take(PATIENCE, behind=behind or overdrawn > 0 or beside.number > TABS)
    _script_run.taken = [turns for turns, called in ((_turns, everybody), (beside.turns, of_visitor)) if called]
    _script_run.began, _script_run.price = time.thread_time(), price(number_here(), beside.number)


def _end() -> bool:
    """End this thread's turn and count its time; False where it had none."""
    taken, _script_run.taken = _script_run.taken, None
    if taken is None or _script_run.beside is None:
        return False
    PACE.spend(_script_run.beside.visitor, (time.thread_time() - _script_run.began) * _script_run.price)
    for turns in taken:
        turns.end()
    return True
