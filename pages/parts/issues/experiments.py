"""Every experiment that this server process runs or ran, by an unguessable id. One of a session goes at a time."""

from __future__ import annotations

import secrets
import sys
from collections import OrderedDict
from threading import RLock, Thread

from engine.evidence.experiment import Experiment
from engine.evidence.store import keep
from engine.issues.issue import Issue
from engine.workers.pool import Pool, Refused

KEPT = 60
"""Ended experiments that are held, the newest; what they found is on disk."""


class Experiments:
    """Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._by_id: OrderedDict[str, Experiment] = OrderedDict()

    def begin(self, issue: Issue, pool: Pool, *, seeds: int, first_seed: int, extended: bool, session: str) -> str:
        """Start an experiment; its id. Raises Refused where the session has one going, ConfigError and ValueError."""
        with self._lock:
            going = self.running_of(session)
            if going is not None:
                raise Refused(
                    f"Your experiment on “{self._by_id[going].issue.title}” is still going. Stop it, or wait until it has ended."
                )
            experiment = Experiment(
                issue, pool, seeds=seeds, first_seed=first_seed, extended=extended, session=session
            ).start()
            name = secrets.token_urlsafe(12)
            self._by_id[name] = experiment
            self._forget_old()
        Thread(target=_keep_when_finished, args=(experiment,), name=f"keep-{issue.slug}", daemon=True).start()
        return name

    def find(self, name: str) -> Experiment | None:
        with self._lock:
            return self._by_id.get(name)

    def running_of(self, session: str) -> str | None:
        """The id of the session's experiment that goes now."""
        with self._lock:
            return next((n for n, e in self._by_id.items() if e.session == session and e.state == "running"), None)

    def _forget_old(self) -> None:
        ended = [name for name, experiment in self._by_id.items() if experiment.state != "running"]
        for name in ended[: max(0, len(self._by_id) - KEPT)]:
            del self._by_id[name]


def _keep_when_finished(experiment: Experiment) -> None:
    experiment.wait()
    if experiment.state == "finished":
        try:
            keep(experiment)
        except OSError as error:
            print(f"The evidence on {experiment.issue.slug} could not be kept: {error}", file=sys.stderr)


EXPERIMENTS = Experiments()
"""The one registry of this process."""
