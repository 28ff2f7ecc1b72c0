"""The one rule by which people share scarce things: workers' time, slots on workers, processes for questions."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
# the name under which a share counts, from the outside in: network, network address, visitor and, among one visitor's runs, the
# run
Flow = tuple[str, ...]
CREDIT = 1.0  # the lead up to which new flows still go first: seconds, where time is shared
MAX_ACCOUNTS = 1000  # above this number, accounts without a lead are forgotten


class FairQueue:
    """Accounts of each network address, each visitor there, and each run of the visitor. At each level the smallest account is
    next, and a flow that joins, or joins again, starts with at least the account of the last turn. So people share, whatever the
    number of their cookies and runs. Hierarchical start-time fair queueing: Goyal, Guo and Vin, 1996, "A hierarchical CPU scheduler
    for multimedia operating systems"."""

    def __init__(self) -> None:
        self._had: dict[Flow, float] = {}
        # by enclosing flow the account before the latest turn; no account counts as smaller
        self._least: dict[Flow, float] = {}

    def next(self, asking: Iterable[Flow], new: Iterable[Flow] = ()) -> Flow:
        """The flow whose turn it is; among equal accounts the first one. All flows have the same number of levels.

        ``new``: the flows of ``asking`` that have just come. They go first, in their order, as long as their address, visitor and run
        lead by less than :data:`CREDIT`.
        """
        chosen: Flow = ()
        while True:
            inside, recent = _by_level(asking, len(chosen)), _by_level(new, len(chosen))
            had = {name: self._before((*chosen, name)) for name in inside}
            latest = self._least.get(chosen, 0.0) + CREDIT
            first = next((name for name in recent if had[name] < latest), None)
            name = min(had, key=had.__getitem__) if first is None else first
            chosen = (*chosen, name)
            asking, new = inside[name], recent.get(name, ())
            if len(asking[0]) == len(chosen):
                return chosen

    def in_turn(self, asking: Iterable[T], flow_of: Callable[[T], Flow]) -> Iterator[T]:
        """Yield the items in turns of their flows. Before each next one, the caller spends the cost of the last."""
        waiting = dict[Flow, deque[T]]()
        for one in asking:
            waiting.setdefault(flow_of(one), deque()).append(one)
        while waiting:
            turn = self.next(waiting)
            one = waiting[turn].popleft()
            if not waiting[turn]:
                del waiting[turn]
            yield one

    def spend(self, flow: Flow, amount: float, *, ahead: float = 0.0) -> None:
        """Count the cost of a turn, at each level of the flow. ``ahead``: the lead that its account may have because it went before
        its turn. Up to that the least account stays as it is, so that the others keep their turns."""
        for level in range(len(flow)):
            whole, part = flow[:level], flow[: level + 1]
            had, least = self._before(part), self._least.get(whole, 0.0)
            if had >= least + ahead:
                self._least[whole] = had
            self._had[part] = had + amount
        if len(self._had) > MAX_ACCOUNTS:
            self._forget()

    def _before(self, part: Flow) -> float:
        return max(self._had.get(part, 0.0), self._least.get(part[:-1], 0.0))

    def _forget(self) -> None:
        # an account without a lead can go: a flow that comes later gets the same
        ahead = {path for path, had in self._had.items() if had > self._least.get(path[:-1], 0.0)}
        active = {path[:depth] for path in ahead for depth in range(1, len(path) + 1)}
        self._had = {path: had for path, had in self._had.items() if path in active}
        self._least = {path: least for path, least in self._least.items() if not path or path in active}


def _by_level(flows: Iterable[Flow], level: int) -> dict[str, list[Flow]]:
    by_name = dict[str, list[Flow]]()
    for flow in flows:
        by_name.setdefault(flow[level], []).append(flow)
    return by_name
