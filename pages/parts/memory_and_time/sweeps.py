"""Every sweep that this server process runs or ran, by an unguessable name. One of a session goes at a time."""

from __future__ import annotations

import secrets
import sys
from collections import OrderedDict
from threading import RLock, Thread

from engine.costs import store
from engine.costs.plan import Plan
from engine.costs.result import Result
from engine.costs.sweep import Sweep
from engine.workers.pool import Pool, Refused

KEPT = 60
"""Ended sweeps that are held, the newest; all of them are on disk."""


class Sweeps:
    """Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._by_name: OrderedDict[str, Sweep] = OrderedDict()

    def begin(self, plan: Plan, pool: Pool, *, session: str) -> str:
        """Start a sweep; its name. Raises Refused where the session has one going."""
        with self._lock:
            if any(sweep.session == session and sweep.state == "running" for sweep in self._by_name.values()):
                raise Refused("Your last measurement is still going. Stop it, or wait until it has ended.")
            sweep, name = Sweep(plan, pool, session=session).start(), secrets.token_urlsafe(12)
            self._by_name[name] = sweep
            ended = [name for name, sweep in self._by_name.items() if sweep.state != "running"]
            for old in ended[: max(0, len(self._by_name) - KEPT)]:
                del self._by_name[old]
        Thread(target=_keep_when_over, args=(name, sweep), name="keep-sweep", daemon=True).start()
        return name

    def find(self, name: str) -> Sweep | None:
        with self._lock:
            return self._by_name.get(name)

    def result(self, name: str) -> Result | None:
        """As it stands, or as it was left on disk; None where there is none of that name."""
        sweep = self.find(name)
        return sweep.result if sweep is not None else store.find(name)


def _keep_when_over(name: str, sweep: Sweep) -> None:
    """What was measured before a stop is kept, too."""
    sweep.wait()
    if sweep.result.visits:
        try:
            store.keep(name, sweep.result)
        except OSError as error:
            print(f"The measurement could not be kept: {error}", file=sys.stderr)


SWEEPS = Sweeps()
"""The one registry of this process."""
