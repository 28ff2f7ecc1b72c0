"""Allowances: the work of each kind that a visitor, a network address, and everybody together may have at once.

A visitor is a browser and not a tab. A browser can throw its cookie away, so a network has a share, too (:func:`has_share`): an
address, of IPv6 a whole site (:attr:`engine.foundation.visitor.Visitor.network`). It is generous, since a school is one address. A
prompt to a model is a job. Texts have a rate limit for each network (:meth:`Allowances.give_text`), as they take room on the disk
and no time.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Literal

from engine.foundation.errors import NoRoom
from engine.foundation.formatting import counted, in_bytes, in_time
from engine.foundation.visitor import RateLimit, Visitor
from engine.serving.limits import Limits

# A kind of work that is counted. Its limits are named after it: runs_per_visitor, and for everybody tabs. Inputs are counted in
# bytes.
WorkKind = Literal["run", "experiment", "sweep", "job", "stream", "tab", "input"]
Release = Callable[[], None]
# the remedy of a refusal; for all other kinds STOP_IT
ADVICE: Mapping[WorkKind, str] = {
    "run": "Stop one, or wait until one has ended.",
    "job": "Try again when one has been answered.",
    "stream": "Close a tab.",
    "tab": "Close one.",
    "input": "Remove a file, or close a tab.",
}
STOP_IT = "Stop it, or wait until it has ended."
# texts that an address may give at once, and the seconds in which it may then give one more
TEXTS_AT_ONCE, TEXT_EVERY = 200, 60.0


def has_share(here: int, everybody: int, most: int, amount: int = 1) -> bool:
    """True if a network address may have ``amount`` more of something of which everybody together may have ``most``.

    ``here``: the number that the address has; ``everybody``: the number that all have. An address may have as many as remain for
    others: the first one gets half of them, the next one half of the rest, and so on. So it takes many addresses to use up all.
    """
    return here + amount <= most - everybody


class Allowances:
    """All work of visitors. Methods may be called from any thread."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._texts = RateLimit(rate=1 / TEXT_EVERY, most=TEXTS_AT_ONCE)
        self._lock = Lock()
        self._leases: dict[object, tuple[WorkKind, Visitor, int]] = {}

    def take(self, kind: WorkKind, visitor: Visitor, amount: int = 1) -> Release:
        """Count ``amount`` more of that kind until the returned function is called; calling it twice changes nothing. Raises NoRoom
        with one sentence."""
        lease = object()
        with self._lock:
            if visitor.id and (sentence := self._refusal(kind, visitor, amount)):
                raise NoRoom(sentence)
            self._leases[lease] = kind, visitor, amount

        def release() -> None:
            with self._lock:
                self._leases.pop(lease, None)

        return release

    @contextmanager
    def lease(self, kind: WorkKind, visitor: Visitor) -> Iterator[None]:
        """Raises NoRoom."""
        release = self.take(kind, visitor)
        try:
            yield
        finally:
            release()

    def give_text(self, visitor: Visitor) -> None:
        """Raises NoRoom with one sentence if too many texts came from the visitor's network recently."""
        if not visitor.network:
            return
        # new cookies would else let one address fill the host's room for texts, and push out those of others
        if wait := self._texts.wait(visitor.network):
            raise NoRoom(f"Your network address has sent many texts. Give this one in {in_time(wait)}.")
        self._texts.spend(visitor.network, 1)

    def count(self, kind: WorkKind, visitor: Visitor) -> int:
        with self._lock:
            return self._count(kind, visitor)

    def _count(self, kind: WorkKind, visitor: Visitor) -> int:
        return sum(number for other, who, number in self._leases.values() if other == kind and who.id == visitor.id)

    def _refusal(self, kind: WorkKind, visitor: Visitor, amount: int) -> str | None:
        of_visitor = self._count(kind, visitor)
        most: int = getattr(self.limits, f"{kind}s_per_visitor")
        if of_visitor + amount > most:
            if kind == "input":
                have, allowed = f"files and texts of {in_bytes(of_visitor)}", in_bytes(most)
            else:
                have, allowed = f"{counted(of_visitor, kind)} going", str(most)
            return f"You have {have}, and this host allows {allowed} at once. {ADVICE.get(kind, STOP_IT)}"
        everybody: int | None = getattr(self.limits, f"{kind}s", None)
        if everybody is None:  # of runs, the queue limits those that wait
            return None
        occupied = [(who.network, number) for other, who, number in self._leases.values() if other == kind]
        here = sum(number for network, number in occupied if network and network == visitor.network)
        in_all = sum(number for _, number in occupied)
        if has_share(here, in_all, everybody, amount):
            return None
        if kind == "input":
            return "Files and texts fill the memory that this host has for them. Try again later."
        full = in_all >= everybody
        number, whose = (in_all, "of all visitors") if full else (here, "from your network address")
        why = "the most that this host allows" if full else "and the other places are for visitors from elsewhere"
        return f"{counted(number, kind)} {whose} {'is' if number == 1 else 'are'} going, {why}. Try again later."
