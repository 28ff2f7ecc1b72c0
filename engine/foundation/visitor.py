import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Network, ip_network
from threading import Event as Signal
from threading import Lock

SITE_BITS = 48  # of an IPv6 address, common to one site: a home has 256 networks of 64 bits, a company more
MAX_VISITORS = 10_000  # above this number, visitors with a full budget are forgotten


@dataclass(frozen=True)
class Visitor:
    # the same for all tabs of a browser; empty for the program itself (the command line, a test), which has no limits
    id: str
    address: str = ""  # which many visitors may share; empty if it is not known

    @property
    def network(self) -> str:
        # one site has all IPv6 addresses that begin with its 48 bits
        return _network_of(self.address)

    @property
    def flow(self) -> tuple[str, str, str]:
        """The flow of the fair queue (:mod:`engine.serving.fair_queue`): networks share, then the addresses in each, then visitors."""
        return self.network, self.address, self.id

    def may_steer(self, owner: str) -> bool:
        return self.id in ("", owner)


@lru_cache(1000)
def _network_of(address: str) -> str:
    try:
        network = ip_network(address)
    except ValueError:  # a host may be a name
        return address
    whole = isinstance(network, IPv6Network) and network.prefixlen > SITE_BITS
    return str(network.supernet(new_prefix=SITE_BITS)) if whole else address


PROGRAM = Visitor("")


class RateLimit:
    """A budget for each visitor, which fills again with time. Methods may be called from any thread."""

    def __init__(self, rate: float, most: float, clock: Callable[[], float] = time.monotonic) -> None:
        """``rate``: the gain of a budget in a second; ``most``: its size when it is full."""
        self._rate, self._most, self._clock = rate, most, clock
        self._full_at: dict[str, float] = {}  # the time at which each budget will be full again
        self._lock = Lock()

    def spend(self, visitor: str, amount: float) -> float:
        """Take from the visitor's budget; return the seconds until it is no longer overdrawn."""
        with self._lock:
            now = self._clock()
            if len(self._full_at) > MAX_VISITORS:
                self._full_at = {other: full for other, full in self._full_at.items() if full > now}
            self._full_at[visitor] = max(self._full_at.get(visitor, now), now) + amount / self._rate
        return self.wait(visitor)

    def wait(self, visitor: str) -> float:
        with self._lock:
            missing = self._full_at.get(visitor, 0.0) - self._clock() - self._most / self._rate
        return max(0.0, missing)  # seconds until the budget is no longer overdrawn


class Turns:
    """A semaphore whose waiters are called in the order of arrival, and some after all others.

    Methods may be called from any thread.
    """

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._first, self._behind = deque[Signal](), deque[Signal]()
        self._lock = Lock()

    def take(self, timeout: float, *, behind: bool = False) -> bool:
        """False if there was no turn within ``timeout`` seconds. ``behind``: after all others that wait."""
        line = self._behind if behind else self._first
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            called = Signal()
            line.append(called)
        if called.wait(timeout):
            return True
        with self._lock:
            if called.is_set():  # just now
                return True
            line.remove(called)
            return False

    def end(self) -> None:
        with self._lock:
            line = self._first or self._behind
            if line:
                line.popleft().set()
            else:
                self._free += 1
