"""Script runs take turns: runs of one visitor yield to those of others, and all of them wait for each other."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, local

from engine.foundation.visitor import RateLimit, Turns
from pages.parts.app.visitor import number_present, visitor

COMPUTE_BUDGET = RateLimit(rate=1.0, most=10.0)
"""A script run that computes for t seconds takes t times its price from a budget that gains one per second. The full
budget covers any clicks by hand. So a script run that draws large pictures costs more than one that moves a number."""
ALL_VISITORS_SHARE = 0.6  # part of a second in which all script runs together may compute, in equal shares
MIN_VISITOR_SHARE, MAX_VISITOR_SHARE = 0.05, 0.3  # of one visitor, with all tabs together
MAX_VISITOR_WAIT_SECONDS = 60.0  # for the visitor's other script runs, and again for the visitor's budget
# A Python process runs one thread at a time: of thirty at once all would be late, and with two the thread that sends
# their messages would get a third of the time.
SCRIPTS_AT_ONCE = 1
SCRIPTS_WITHOUT_PENALTY = 2
"""Script runs of a visitor at the same time, including those that wait for an answer, without a penalty. Above it they
wait behind other visitors and cost more (:func:`price`)."""
MAX_TURN_WAIT_SECONDS = 4.0  # seconds after which a script run continues out of turn: another one may be slow


@dataclass
class _UnderWay:
    visitor: str
    number: int = 0
    turns: Turns = field(default_factory=partial(Turns, 1))
    """Only one script run of the visitor computes or waits for the turn of all visitors: its price then includes the time
    of those before it."""


class _ScriptRun(local):
    siblings: _UnderWay | None = None
    """The script runs of its visitor, including itself; None outside of :func:`in_turn`."""
    turns: Sequence[Turns] | None = None
    """The turns to end after computing, without those for which it gave up waiting. None outside of a turn."""
    began = price = 0.0
    """Processor seconds of its thread at the beginning of the turn, and the budget that one second costs."""


_turns = Turns(SCRIPTS_AT_ONCE)
_under_way: dict[str, _UnderWay] = {}  # by visitor's id, guarded by ``_lock``
_lock = Lock()
_script_run = _ScriptRun()


def let_others_go() -> None:
    """Wait if other script runs wait. Call it in the middle of a long script run, after drawing the most important
    part."""
    if _end():
        _begin(behind=True)


def price(visitors: int, under_way: int) -> float:
    """Return the seconds of budget for one second of computing. It rises with the number of ``visitors``, who share
    each second, and above :data:`SCRIPTS_WITHOUT_PENALTY` with the visitor's script runs ``under_way``."""
    share = min(MAX_VISITOR_SHARE, max(MIN_VISITOR_SHARE, ALL_VISITORS_SHARE / max(1, visitors)))
    return max(1.0, under_way / SCRIPTS_WITHOUT_PENALTY) / share


@contextmanager
def in_turn() -> Iterator[None]:
    """Run the block in this script run's turn, and count its time as the visitor's. Inside of another such block it
    changes nothing: a slow fragment uses it in case it runs alone."""
    if _script_run.siblings is not None:
        yield
        return
    whose = visitor().id
    with _lock:
        _script_run.siblings = siblings = _under_way.setdefault(whose, _UnderWay(whose))
        siblings.number += 1
    try:
        _begin()
        yield
    finally:
        with _lock:  # before the turn ends, so that the price of the next one excludes this one
            siblings.number -= 1
            if not siblings.number:
                del _under_way[whose]
        _end()
        _script_run.siblings = None


@contextmanager
def out_of_turn() -> Iterator[None]:
    """Give up the turn inside the block, in which a script run only waits for an answer. Afterwards it takes a new one,
    so that a visitor's script runs with simultaneous answers do not all continue at once."""
    if not _end():
        yield
        return
    try:
        yield
    finally:
        _begin()


def _begin(*, behind: bool = False) -> None:
    """Take a turn, or continue without one after a while. A visitor with an overdrawn budget waits first, and then
    behind the others; so does one with many tabs."""
    siblings = _script_run.siblings
    assert siblings is not None, "This is called inside of in_turn."
    of_visitor = siblings.turns.take(MAX_VISITOR_WAIT_SECONDS)
    overdrawn = COMPUTE_BUDGET.wait(siblings.visitor) if number_present() > 1 else 0.0
    time.sleep(min(MAX_VISITOR_WAIT_SECONDS, overdrawn))
    everybody = _turns.take(
        MAX_TURN_WAIT_SECONDS, behind=behind or overdrawn > 0 or siblings.number > SCRIPTS_WITHOUT_PENALTY
    )
    _script_run.turns = [turns for turns, called in ((_turns, everybody), (siblings.turns, of_visitor)) if called]
    _script_run.began, _script_run.price = time.thread_time(), price(number_present(), siblings.number)


def _end() -> bool:
    """End this thread's turn and count its time; False without a turn."""
    turns, _script_run.turns = _script_run.turns, None
    if turns is None or _script_run.siblings is None:
        return False
    COMPUTE_BUDGET.spend(_script_run.siblings.visitor, (time.thread_time() - _script_run.began) * _script_run.price)
    for each in turns:
        each.end()
    return True
