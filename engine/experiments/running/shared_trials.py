"""The trials under way: the same arm, seed and code is trained once for all experiments that wait for it.

A class that presses Run together waits as long as one reader would.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from engine.experiments.experiment import Arm, Experiment
from engine.experiments.trial import Trial
from engine.foundation.log import LOG
from engine.foundation.visitor import Visitor
from engine.runs.request import RunRequest
from engine.runs.run import Run
from engine.serving.pool import Pool

# the ends after which a trial is trained again: its worker ended, or a visitor who no longer follows it has stopped it
RETRIED_STATES = ("lost", "stopped")
STOP_SECONDS = 30.0  # seconds to wait for the ends of stopped runs; the pool ends them by force sooner


@dataclass(eq=False)
class SharedRun:
    """The run of a trial, and the visitors whose experiments follow it, one for each experiment.

    Each takes the trial when it has ended, and then calls :meth:`SharedTrials.leave` once. The run belongs to all of
    them: it continues as long as one of them is here.
    """

    run: Run
    followers: list[Visitor]
    _trial: Trial | None = None
    _reading: Lock = field(default_factory=Lock)

    def trial(self, arm: str, seed: int, read: Callable[[], Trial]) -> Trial:
        """The finished trial, under the name that an experiment gives its arm. ``read`` reads and stores it, once for
        all followers."""
        with self._reading:
            self._trial = self._trial or read()
        return replace(self._trial, arm=arm, seed=seed)


class SharedTrials:
    """The trials under way of all experiments of a program. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._under_way: dict[str, SharedRun] = {}  # by settings and seed

    def follow(
        self,
        pool: Pool,
        experiment: Experiment,
        arm: Arm,
        seed: int,
        visitor: Visitor,
        find: Callable[[], Trial | None],
    ) -> SharedRun | Trial:
        """The run of an arm at a seed if one is under way, else the stored trial that ``find`` gives, else a new run in the
        visitor's name.

        Raises Refused, and NoRoom if it may be tried again.
        """
        config, record = experiment.config(arm, seed), experiment.record(arm)
        request = RunRequest(config, visitor, trial=True, record=record)
        key = json.dumps([experiment.identity(arm), seed], sort_keys=True)
        # Held also while the trial is looked up and submitted: a second caller for the same one meanwhile waits, and then follows
        # it.
        with self._lock:
            shared = self._under_way.get(key)
            if shared is not None and shared.run.state not in RETRIED_STATES:
                shared.followers.append(visitor)
                pool.follow(shared.run.id, shared.followers)
                return shared
            if (stored := find()) is not None:
                return stored
            self._under_way[key] = new = SharedRun(pool.submit(request), [visitor])
            return new

    def leave(self, pool: Pool, runs: Sequence[SharedRun], visitor: Visitor) -> None:
        """Remove this visitor's experiment from the followers of these runs. A run without followers is deleted, and
        stopped before if it has not ended."""
        unfollowed = [shared for shared in runs if self._is_last(pool, shared, visitor)]
        for shared in unfollowed:
            if shared.run.live:
                pool.stop(shared.run.id)
        deadline = time.monotonic() + STOP_SECONDS
        for shared in unfollowed:
            shared.run.wait_for(sys.maxsize, max(0.0, deadline - time.monotonic()))
            try:
                pool.runs.delete(shared.run.id)
            except OSError as error:  # the experiment has its numbers; what is left is deleted as other old runs are
                LOG.warning("The run of a trial could not be deleted: %s", error.strerror or type(error).__name__)

    def _is_last(self, pool: Pool, shared: SharedRun, visitor: Visitor) -> bool:
        with self._lock:
            shared.followers.remove(visitor)
            if shared.followers:
                pool.follow(shared.run.id, shared.followers)
                return False
            self._under_way = {key: other for key, other in self._under_way.items() if other is not shared}
            return True
